import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TestGateway, temporaryFolder } from '../helpers/gateway.ts';
import { readMailConfig } from '../../gateway/mail/read-mail-config.ts';
import { LOOPBACK } from '../gateway/callbacks/callback-receiver.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Something that answers, and the executable as it is shipped, which calls it. */
export class Harness {
  readonly bundle = resolve('dist/svc.cjs');
  readonly env: Record<string, string>;
  readonly #folder = temporaryFolder();
  #gateway: TestGateway | null = null;
  #url = '';
  #apiKey = '';

  private constructor(agent: string) {
    this.env = {
      PATH: process.env['PATH'] ?? '',
      SVC_HOME: join(this.#folder.path, 'home'),
      SVC_AGENT: agent,
    };
  }

  /** A daemon that has the project itself. */
  static async local(agent: string): Promise<Harness> {
    const harness = new Harness(agent);
    harness.env['SVC_CALLBACK_ALLOW'] = '127.0.0.0/8';
    await harness.#up();
    harness.#apiKey = (await harness.svc('auth', 'token')).out.trim();
    return harness;
  }

  /** A gateway, and no daemon. */
  static async gateway(agent: string): Promise<Harness> {
    const harness = new Harness(agent);
    const { url, apiKey } = await harness.#open();
    Object.assign(harness.env, { SVC_GATEWAY: url, SVC_API_KEY: apiKey });
    harness.#url = url;
    return harness;
  }

  /** A daemon over a copy of a gateway's project. */
  static async replica(agent: string): Promise<Harness> {
    const harness = new Harness(agent);
    const { url: gateway, apiKey: api_key, projectId: project } = await harness.#open();
    const home = harness.env['SVC_HOME'] ?? '';
    mkdirSync(home, { mode: 0o700 });
    const credentials = { profiles: { team: { gateway, api_key, project } }, current: 'team' };
    writeFileSync(join(home, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 });
    await harness.#up();
    return harness;
  }

  get url(): string {
    return this.#url;
  }

  get apiKey(): string {
    return this.#apiKey;
  }

  /** Where letters go. */
  get letters(): string {
    return this.#gateway?.folder ?? this.#folder.path;
  }

  /** Where people's pages are. */
  get pages(): string {
    return this.#gateway?.url ?? this.#url;
  }

  /** A place in the folder that goes with it. */
  placeFor(name: string): string {
    return join(this.#folder.path, name);
  }

  svc(...args: string[]): Promise<Ran> {
    return new Promise((done) => {
      execFile(process.execPath, [this.bundle, ...args], { env: this.env }, (error, out, err) => {
        done({ code: error ? Number(error.code) : 0, out, err });
      });
    });
  }

  async stop(): Promise<void> {
    await this.svc('down');
    await this.#gateway?.stop();
    this.#folder.remove();
  }

  async #open(): Promise<TestGateway> {
    this.#gateway = await TestGateway.start({
      callbackAllow: LOOPBACK,
      signIn: true,
      messaging: { mail: readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' }), telegram: null },
    });
    this.#apiKey = this.#gateway.apiKey;
    return this.#gateway;
  }

  async #up(): Promise<void> {
    const { code, out, err } = await this.svc('up', '--port', '0', '--json');
    if (code !== 0) {
      await this.stop();
      throw new Error(err);
    }
    this.#url = (JSON.parse(out) as { base_url: string }).base_url;
  }
}
