import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isListening } from '../gateway/server/nginx.ts';

const SHOWN = 'gateway/deploy/haproxy.cfg';
const ERROR_PAGE = resolve('gateway/deploy/haproxy-503.http');

interface DeployedWanted {
  readonly program: string;
  readonly folder: string;
  /** The two gateways, as `127.0.0.1:4780`. */
  readonly gateways: readonly [string, string];
  /** Where HAProxy listens. */
  readonly url: string;
  /** More lines of its frontend; it then takes as many connections as the file says. */
  readonly frontend?: string;
}

/** A HAProxy with the configuration that operators get, moved to the test's addresses and without TLS. */
export class DeployedHaproxy {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when it listens. */
  static async start(wanted: DeployedWanted): Promise<DeployedHaproxy> {
    const { program, folder, url } = wanted;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, moved(wanted));
    const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
    for (let tries = 0; !(await isListening(Number(new URL(url).port))); tries += 1) {
      if (tries === 500 || child.exitCode !== null) throw new Error('HAProxy does not listen.');
      await new Promise((done) => setTimeout(done, 20));
    }
    return new DeployedHaproxy(child);
  }

  async end(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}

function moved({ gateways, url, frontend }: DeployedWanted): string {
  let text = readFileSync(SHOWN, 'utf8');
  const replace = (shown: string | RegExp, own: string): void => {
    if (text.search(shown) === -1) throw new Error(`${SHOWN} has no ${String(shown)}.`);
    text = text.replaceAll(shown, own);
  };
  // Not every machine lets a process open twice as many files.
  replace('maxconn 20000', frontend === undefined ? 'maxconn 2000' : 'maxconn 9000');
  replace(/10\.0\.0\.11:4780/g, gateways[0]);
  replace(/10\.0\.0\.12:4780/g, gateways[1]);
  replace(/bind :443 .*/g, `bind ${new URL(url).host}\n${frontend ?? ''}`);
  replace(/\/etc\/haproxy\/haproxy-503\.http/g, ERROR_PAGE);
  return text;
}
