import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { runMark } from '../../helpers/reaper.ts';

/** Where the hosted process says it is. */
export interface Status {
  readonly base_url: string;
  readonly mcp_url: string;
  readonly hooks_url: string;
  readonly listen: string;
  readonly data: string;
  readonly version: string;
  readonly pid: number;
}

export type Env = Readonly<Record<string, string>>;

/** How a process ended that did not come to listen. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The hosted process, as `svc gateway --json` runs it. It sees no settings but these. */
export class Hosted {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  out = '';
  err = '';

  constructor(env: Env, args: readonly string[] = ['--json'], uid?: number) {
    const { PATH = '', HOME = '' } = process.env;
    const program = resolve('dist/gateway.js');
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid }),
      env: { PATH, HOME, ...runMark(), ...env },
    });
    this.child = child;
    this.exited = once(child, 'close').then(([code]: unknown[]) => code as number | null);
    child.stdout.on('data', (bytes: Buffer) => (this.out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (this.err += bytes.toString()));
  }

  /** Resolves when it listens. */
  static async start(env: Env, uid?: number): Promise<Hosted & { readonly status: Status }> {
    const hosted = new Hosted(env, ['--json'], uid);
    const status = await hosted.#listening();
    return Object.assign(hosted, { status });
  }

  /** For one that is expected to end by itself. */
  static async refused(env: Env, args?: readonly string[], uid?: number): Promise<Ended> {
    const hosted = new Hosted(env, args, uid);
    const code = await hosted.exited;
    return { code, out: hosted.out, err: hosted.err };
  }

  /** The lines of the log. */
  get log(): Record<string, unknown>[] {
    const lines = this.out.split('\n').filter((line) => line.startsWith('{"level":'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Ends it and answers its exit code. */
  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }

  async #listening(): Promise<Status> {
    const line = new Promise<string>((done) => {
      const look = (): void => {
        const end = this.out.indexOf('\n');
        if (end !== -1) done(this.out.slice(0, end));
      };
      this.child.stdout?.on('data', look);
    });
    const first = await Promise.race([line, this.exited.then(() => null)]);
    if (first === null) throw new Error(`It did not start: ${this.err}`);
    return JSON.parse(first) as Status;
  }
}
