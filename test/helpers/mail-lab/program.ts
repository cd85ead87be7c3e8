import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../../shared/lib/guards.ts';

const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 1500;

/**
 * Runs a server until it ends, or until the process at the other side of the pipe does, however that ends: then the whole
 * group is killed.
 */
const GUARD = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
trap 'kill "$server"' TERM
{ cat <&3 >/dev/null; kill -9 -$$; } &
wait "$server"
wait "$server"
`;

/** Where a server of the lab listens: a port of 127.0.0.1, or the path of a socket. */
export type Door = number | string;

/** A server in the foreground. */
export class Program {
  readonly #name: string;
  readonly #log: string;
  readonly #doors: readonly Door[];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(
    name: string,
    { log, doors }: { readonly log: string; readonly doors: readonly Door[] },
    child: ChildProcess,
  ) {
    this.#name = name;
    this.#log = log;
    this.#doors = doors;
    this.#child = child;
    this.#exited = once(child, 'exit');
  }

  /** Resolves when all ports are open. `log` keeps its output, which becomes part of the error if it doesn't start. */
  static async start(
    command: readonly string[],
    { log, doors }: { readonly log: string; readonly doors: readonly Door[] },
  ): Promise<Program> {
    const output = openSync(log, 'a');
    const child = spawn('sh', ['-c', GUARD, 'guard', ...command], {
      stdio: ['pipe', output, output],
      // Its own process group, with the processes it starts.
      detached: true,
    });
    closeSync(output);
    const program = new Program(command[0] ?? '', { log, doors }, child);
    try {
      await Promise.all(doors.map((door) => program.#opened(door)));
      return program;
    } catch (error) {
      await program.kill();
      throw error;
    }
  }

  /** As a server is ended that is started again: clients are told. Resolves when all doors are shut. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await Promise.race([this.#exited, sleep(END_WITHIN_MS, null, { ref: false })]);
    // Processes of Dovecot would serve their clients for ten seconds more.
    await this.kill();
    // Those have them open for a moment after it: the next server could not listen, or would seem to be there already.
    for (const door of this.#doors) while (await isOpen(door)) await sleep(20);
  }

  /** With all processes it started. */
  async kill(): Promise<void> {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
    await this.#exited;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #opened(door: Door): Promise<void> {
    for (const deadline = performance.now() + READY_WITHIN_MS; performance.now() < deadline;) {
      if (this.#hasEnded) break;
      if (await isOpen(door)) return;
      await sleep(20);
    }
    throw new Error(`${this.#name} does not start:\n${readFileSync(this.#log, 'utf8')}`);
  }
}

async function isOpen(door: Door): Promise<boolean> {
  const socket = typeof door === 'number' ? connect(door, '127.0.0.1') : connect(door);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
