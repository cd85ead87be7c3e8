import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../programs.ts';
import type { FaultChange } from './faults.ts';
import type { HranaOptions } from './server.ts';
import type { Counters } from './stream.ts';

const PROGRAM = resolve('test/helpers/hrana/hrana-program.ts');

/** A libSQL server in a separate process, which a test may kill and restart over the same folder and port. */
export class HranaProcess {
  /** Without a slash at the end. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(url: string, child: ChildProcess, exited: Promise<unknown>) {
    this.url = url;
    this.#child = child;
    this.#exited = exited;
  }

  /** Resolves when it listens. */
  static async start(options: HranaOptions): Promise<HranaProcess> {
    // One that nobody else is given while it is down.
    const port = options.port ?? (await freePort());
    const args = ['--import', 'tsx', PROGRAM, ...argumentsOf({ ...options, port })];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, 'line'), exited.then(() => null)]);
    if (!first) throw new Error('The libSQL server did not start.');
    const { url } = JSON.parse(String(first[0])) as { readonly url: string };
    return new HranaProcess(url, child, exited);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The URL of a database, for the client. */
  urlOf(name: string): string {
    return `${this.url}/${name}/`;
  }

  async faults(change: FaultChange): Promise<void> {
    await this.#control('faults', JSON.stringify(change));
  }

  async expireStreams(): Promise<void> {
    await this.#control('expire');
  }

  async resetCounters(): Promise<void> {
    await this.#control('reset');
  }

  /** Of a database, since it was first used or `resetCounters`. */
  async counters(name: string): Promise<Counters> {
    const response = await this.#control('counters');
    const all = (await response.json()) as Readonly<Record<string, Counters>>;
    return all[name] ?? { requests: 0, statements: 0, transactions: 0 };
  }

  /** Ends it with this signal; resolves when it is gone. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.#exited;
  }

  async #control(what: string, body = '{}'): Promise<Response> {
    const response = await fetch(`${this.url}/-/${what}`, { method: 'POST', body });
    if (!response.ok) throw new Error(`The libSQL server answered ${response.status}.`);
    return response;
  }
}

function argumentsOf({ replication, ...options }: HranaOptions): string[] {
  const named: Readonly<Record<string, string | number | undefined>> = {
    folder: options.folder,
    port: options.port,
    token: options.token,
    create: options.create,
    'stream-idle-ms': options.streamIdleMs,
    'transaction-max-ms': options.transactionMaxMs,
    'max-active-namespaces': options.maxActiveNamespaces,
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  const args = given.flatMap(([name, value]) => [`--${name}`, String(value)]);
  return replication === true ? [...args, '--replication'] : args;
}
