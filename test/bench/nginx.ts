import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../helpers/programs.ts';
import { plainEnvironment } from './children.ts';

const READY_WITHIN_MS = 10_000;

/** An nginx of the bench alone that takes files by WebDAV PUT into a folder and serves them. */
export class Nginx {
  readonly url: string;
  /** Where the files are. */
  readonly root: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(url: string, root: string, process: ChildProcess) {
    this.url = url;
    this.root = root;
    this.#process = process;
    this.#ended = once(process, 'exit');
  }

  static async start(nginx: string, folder: string): Promise<Nginx> {
    const port = await freePort();
    const root = join(folder, 'root');
    mkdirSync(root, { mode: 0o777 });
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, configuration(folder, root, port));
    const server = spawn(nginx, ['-e', join(folder, 'error.log'), '-c', file], {
      env: plainEnvironment(),
      stdio: 'ignore',
    });
    const started = new Nginx(`http://127.0.0.1:${port}`, root, server);
    await started.#whenReady();
    return started;
  }

  async end(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#ended;
  }

  async #whenReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await fetch(this.url).catch(() => null))) {
      if (performance.now() > deadline) throw new Error('nginx does not answer.');
      await sleep(20);
    }
  }
}

/** One process, as the product is; the paths of a system-wide installation are all moved into the folder. */
function configuration(folder: string, root: string, port: number): string {
  const temporary = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/bodies;
  ${temporary.join('\n  ')}
  client_max_body_size 200m;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    location / { dav_methods PUT DELETE; create_full_put_path on; }
  }
}
`;
}
