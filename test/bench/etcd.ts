import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../helpers/programs.ts';
import { plainEnvironment } from './children.ts';

const READY_WITHIN_MS = 20_000;

/** An etcd of the bench alone: one member, commits synced to disk, spoken to through its JSON gateway. */
export class Etcd {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
    this.#ended = once(process, 'exit');
  }

  static async start(etcd: string, folder: string): Promise<Etcd> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const peer = `http://127.0.0.1:${await freePort()}`;
    const server = spawn(
      etcd,
      [
        `--data-dir=${folder}`,
        '--log-level=error',
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
      ],
      { env: plainEnvironment(), stdio: 'ignore' },
    );
    const started = new Etcd(url, server);
    await started.#whenReady();
    return started;
  }

  async end(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#ended;
  }

  async #whenReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const answer = await fetch(`${this.url}/health`).catch(() => null);
      if (answer?.ok) return;
      if (performance.now() > deadline) throw new Error('etcd does not answer.');
      await sleep(50);
    }
  }
}
