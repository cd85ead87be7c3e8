import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { buildBundle } from '../helpers/bundle.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The executable as it is shipped, with a home of its own and its daemon on a free port. */
export class LocalDaemon {
  readonly bundle: string;
  readonly env: Record<string, string>;
  readonly #folder = temporaryFolder();
  #url = '';
  #apiKey = '';

  private constructor(agent: string) {
    this.bundle = buildBundle(join(this.#folder.path, 'build'));
    this.env = {
      PATH: process.env['PATH'] ?? '',
      SVC_HOME: join(this.#folder.path, 'home'),
      SVC_AGENT: agent,
      SVC_CALLBACK_ALLOW: '127.0.0.0/8',
    };
  }

  static async start(agent: string): Promise<LocalDaemon> {
    const daemon = new LocalDaemon(agent);
    const { code, out, err } = await daemon.svc('up', '--port', '0', '--json');
    if (code !== 0) {
      await daemon.stop();
      throw new Error(err);
    }
    daemon.#url = (JSON.parse(out) as { base_url: string }).base_url;
    daemon.#apiKey = (await daemon.svc('auth', 'token')).out.trim();
    return daemon;
  }

  get url(): string {
    return this.#url;
  }

  get apiKey(): string {
    return this.#apiKey;
  }

  /** A place in the folder that goes with the daemon. */
  placeFor(name: string): string {
    return join(this.#folder.path, name);
  }

  svc(...args: string[]): Promise<Ran> {
    return new Promise((resolve) => {
      execFile(process.execPath, [this.bundle, ...args], { env: this.env }, (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err });
      });
    });
  }

  async stop(): Promise<void> {
    await this.svc('down');
    this.#folder.remove();
  }
}
