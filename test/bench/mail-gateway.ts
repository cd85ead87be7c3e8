import { Agent } from 'node:http';
import { hasMailLab, MailLab } from '../helpers/mail-lab.ts';
import { freePort } from '../helpers/programs.ts';
import { TeamGateway } from '../helpers/team.ts';
import type { Bench } from './bench.ts';
import { call, json } from './http.ts';

/** Behind the `@` of the projects' addresses. */
export const MAIL_DOMAIN = 'inbox.test';

/** Why a row is skipped where `startLab` has nothing. */
export const NO_LAB =
  'needs root and mail servers: apt install dovecot-imapd dovecot-lmtpd postfix opendkim dnsmasq';

/** Mail servers of the bench alone; null where they are not installed. */
export async function startLab({ workshop }: Bench): Promise<MailLab | null> {
  if (!hasMailLab()) return null;
  const lab = await MailLab.start();
  workshop.own({ end: () => lab.stop() });
  return lab;
}

/** The hosted process as it ships, with these settings. */
export async function startMailGateway(
  { workshop }: Bench,
  dataFolder: string,
  env: Readonly<Record<string, string>>,
): Promise<TeamGateway> {
  const listen = `127.0.0.1:${await freePort()}`;
  const settings = { SVC_MAIL_DOMAIN: MAIL_DOMAIN, ...env };
  return workshop.own(await TeamGateway.start({ dataFolder, listen, env: settings }));
}

/** Calls with the key of a project, over connections that are kept. */
export class Caller {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, apiKey: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  async get<T>(path: string): Promise<T> {
    const options = { agent: this.#agent, headers: this.#headers };
    return json(await call(this.#url + path, options)) as T;
  }

  async post<T>(path: string, body: object): Promise<T> {
    const options = { agent: this.#agent, headers: this.#headers, method: 'POST' };
    return json(await call(this.#url + path, { ...options, body: JSON.stringify(body) })) as T;
  }

  /** Gives the project its source of mail. */
  async takeMail(): Promise<void> {
    await this.post('/v1/sources', { type: 'email', name: 'mail' });
  }

  close(): void {
    this.#agent.destroy();
  }
}
