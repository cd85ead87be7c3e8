import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import type { BaseCopy, ReplicationPosition } from '../../shared/store/engine/driver.ts';
import type { CrashPoint } from '../../shared/store/log/generations.ts';
import type { Content } from '../helpers/replica.ts';

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Builds `log-program.ts` in a folder, so that it starts at once. Returns its path. */
export function buildLogProgram(folder: string): string {
  const program = join(folder, 'log-program.mjs');
  buildSync({
    entryPoints: [resolve('test/store/log-program.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return program;
}

/** The process of `log-program.ts`. A call is rejected with `died` when the process ends before it answers. */
export class LogProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit');
    child.once('exit', () => {
      for (const settle of this.#pending.values()) settle({ id: 0, error: 'died' });
    });
    child.on('message', (answer: Answer) => {
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
    });
  }

  /** Null when it died before it had opened the database. */
  static async start(
    program: string,
    path: string,
    crashAt?: CrashPoint,
  ): Promise<LogProcess | null> {
    const child = fork(program, crashAt ? [path, crashAt] : [path], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const process = new LogProcess(child);
    const ready = once(child, 'message').then(() => process);
    return Promise.race([ready, process.#exit.then(() => null)]);
  }

  /** Each value is its name repeated `times` times. */
  put(names: readonly string[], times = 1): Promise<unknown> {
    return this.#call('put', names, times);
  }
  undo(bytes: number): Promise<unknown> {
    return this.#call('undo', bytes);
  }
  remove(name: string): Promise<unknown> {
    return this.#call('remove', name);
  }
  follow(): Promise<ReplicationPosition> {
    return this.#call('follow') as Promise<ReplicationPosition>;
  }
  rotate(): Promise<unknown> {
    return this.#call('rotate');
  }
  copyBase(): Promise<BaseCopy> {
    return this.#call('copyBase') as Promise<BaseCopy>;
  }
  content(): Promise<Content> {
    return this.#call('content') as Promise<Content>;
  }
  state(): Promise<{ replication: ReplicationPosition; url: string; fatal: readonly string[] }> {
    return this.#call('state') as ReturnType<LogProcess['state']>;
  }
  crashAt(point: CrashPoint): Promise<unknown> {
    return this.#call('crashAt', point);
  }

  /** Ends it as it should end. */
  async close(): Promise<void> {
    await this.#call('close');
    await this.kill();
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  async #call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    const answer = await new Promise<Answer>((settle) => {
      this.#pending.set(id, settle);
      if (!this.#child.connected) return settle({ id, error: 'died' });
      this.#child.send({ id, name, args }, (error) => error && settle({ id, error: 'died' }));
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  }
}
