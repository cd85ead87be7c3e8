import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { findProgram } from '../../helpers/programs.ts';

const PATIENCE_MS = 60_000;

const SCRIPT = findProgram('script') ?? '';

/** Whether the `script` of util-linux is there, which runs a program on a terminal. */
export function hasTerminals(): boolean {
  const { stdout } = spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' });
  return (stdout ?? '').includes('util-linux');
}

/** The command on a terminal of its own, with somebody who reads and types. */
export class Terminal {
  /** All that was shown so far. */
  text = '';
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown[]>;

  constructor(home: string, argv: readonly string[]) {
    const words = [process.execPath, resolve('dist/svc.cjs'), ...argv];
    const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const { SVC_API_KEY: _, SVC_GATEWAY: __, ...env } = process.env;
    this.#child = spawn(SCRIPT, ['--quiet', '--return', '--command', line, '/dev/null'], {
      env: { ...env, SVC_HOME: home, NO_COLOR: '1', TERM: 'xterm' },
    });
    this.#child.stdout.on('data', (chunk: Buffer) => (this.text += chunk.toString('utf8')));
    // Not its exit: what it said last may be read only afterwards.
    this.#closed = once(this.#child, 'close');
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Waits until this was shown. */
  async shows(text: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!this.text.includes(text)) {
      if (performance.now() > deadline) throw new Error(`"${text}" is not shown in: ${this.text}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  /** Its exit code. */
  async ended(): Promise<unknown> {
    const [code] = await this.#closed;
    return code;
  }

  /** Hangs up, where it still runs. */
  close(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGHUP');
  }
}
