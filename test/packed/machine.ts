import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { vi } from 'vitest';
import { runMark } from '../helpers/reaper.ts';
import type { Installed } from './installed.ts';

const PATIENCE_MS = 60_000;

type Env = Readonly<Record<string, string>>;

/** How a command ended, with what it printed. */
interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A machine with an empty home and the installed package: nothing of this repository is in its environment. */
export class Machine {
  readonly home: string;
  readonly command: string;
  readonly env: Env;
  readonly #processes: Process[] = [];

  constructor(installed: Installed | null, env: Env = {}) {
    if (!installed) throw new Error('The package is not installed.');
    const { command } = installed;
    this.home = mkdtempSync(join(tmpdir(), 'svc-machine-'));
    this.command = command;
    const { PATH = '' } = process.env;
    const path = [dirname(command), dirname(process.execPath), PATH].join(delimiter);
    this.env = { PATH: path, HOME: this.home, LANG: 'C.UTF-8', ...runMark(), ...env };
  }

  /** A new folder below the home. */
  folder(name: string): string {
    const path = join(this.home, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Starts `svc …`. It ends with the machine at the latest. */
  start(args: readonly string[], env: Env = {}): Process {
    return this.startProgram(this.command, args, env);
  }

  /** The same for any program. */
  startProgram(program: string, args: readonly string[], env: Env = {}): Process {
    const options = { cwd: this.home, env: { ...this.env, ...env } };
    const started = new Process(spawn(program, [...args], options));
    this.#processes.push(started);
    return started;
  }

  /** Runs `svc …` to its end. */
  run(args: readonly string[], env: Env = {}): Promise<Ran> {
    return this.start(args, env).ended;
  }

  /** What `svc …` prints; rejects with its standard error unless it ends with 0. */
  async svc(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(args);
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: exit ${code}: ${err}`);
    return out;
  }

  /** The JSON that `svc …` prints. */
  async json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.svc(...args, '--json')) as T;
  }

  /** Ends the daemon and every process that was started here, and takes the home away. */
  async remove(): Promise<void> {
    for (const one of this.#processes) await one.end();
    await this.run(['down']);
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** A process, with what it has printed so far. */
export class Process {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ran>;
  out = '';
  err = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.ended = once(child, 'close').then(([code]: unknown[]) => ({
      code: typeof code === 'number' ? code : null,
      out: this.out,
      err: this.err,
    }));
  }

  /** Waits until it has printed this, and returns what matched. */
  async prints(pattern: RegExp): Promise<string> {
    const find = (): string | undefined => pattern.exec(this.out + this.err)?.[0];
    return vi.waitUntil(find, { timeout: PATIENCE_MS });
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.ended;
  }
}
