import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './programs.ts';

/** The path of libSQL's own server, for tests that start and kill one; no package contains it. */
export const SQLD = process.env['SVC_TEST_SQLD'];

interface SqldOptions {
  readonly ports?: readonly [number, number] | undefined;
  readonly maxActiveNamespaces?: number;
}

/** libSQL's own server, as docs/capacity.md starts it, with its data in a folder of the test. */
export class Sqld {
  /** For SVC_DATABASE_URL, without the name of a database. */
  readonly url: string;
  readonly #admin: string;
  readonly #child: ChildProcess;

  private constructor(url: string, admin: string, child: ChildProcess) {
    this.url = url;
    this.#admin = admin;
    this.#child = child;
  }

  /** Resolves when it answers. `ports` are those of an earlier one over the same folder. */
  static async start(
    program: string,
    folder: string,
    { ports, maxActiveNamespaces = 100 }: SqldOptions = {},
  ): Promise<Sqld> {
    const [http, admin] = ports ?? [await freePort(), await freePort()];
    const own = [`--http-listen-addr=127.0.0.1:${http}`, `--admin-listen-addr=127.0.0.1:${admin}`];
    const fixed = ['--enable-namespaces', '--no-welcome', '-d', join(folder, 'sqld')];
    const active = `--max-active-namespaces=${maxActiveNamespaces}`;
    const child = spawn(program, [...fixed, ...own, active], { stdio: 'ignore' });
    const sqld = new Sqld(`http://127.0.0.1:${http}/dev`, `http://127.0.0.1:${admin}`, child);
    await sqld.#answering();
    return sqld;
  }

  get ports(): readonly [number, number] {
    return [Number(new URL(this.url).port), Number(new URL(this.#admin).port)];
  }

  /** For SVC_DATABASE_CREATE_URL. */
  get createUrl(): string {
    return `${this.#admin}/v1/namespaces/{project}/create`;
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }

  async #answering(): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      const answer = await fetch(`${this.#admin}/health`).catch(() => null);
      if (answer) return;
      if (this.#child.exitCode !== null) break;
      await sleep(50);
    }
    throw new Error('sqld does not answer.');
  }
}
