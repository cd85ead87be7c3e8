import { join } from 'node:path';
import { linkToken, mailsOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';
import type { Machine, Process } from './machine.ts';

const CODE = /[A-Z]+-[A-Z]+-\d\d/;

interface Listening {
  readonly base_url: string;
  readonly listen: string;
}

/** `svc gateway` on a machine. Without a mail server it keeps its mail in a folder, where the tests read it. */
export class HostedGateway {
  readonly process: Process;
  /** What people and agents call it. */
  readonly url: string;
  /** Where it listens. */
  readonly listen: string;
  readonly dataFolder: string;

  private constructor(started: Process, { base_url, listen }: Listening, dataFolder: string) {
    this.process = started;
    this.url = base_url;
    this.listen = listen;
    this.dataFolder = dataFolder;
  }

  /** Resolves when it listens. */
  static async start(
    machine: Machine,
    env: Readonly<Record<string, string>> = {},
  ): Promise<HostedGateway> {
    const dataFolder = join(machine.folder('gateway'), 'data');
    const own = { SVC_DATA: dataFolder, SVC_LISTEN: '127.0.0.1:0', ...env };
    const started = machine.start(['gateway', '--json'], own);
    const refused = started.ended.then(({ err }) => Promise.reject(new Error(err)));
    const line = await Promise.race([started.prints(/^\{"base_url".*$/m), refused]);
    refused.catch(() => undefined);
    return new HostedGateway(started, JSON.parse(line) as Listening, dataFolder);
  }

  /** `svc login …` on a machine, and the person who presses the button behind the mailed link. */
  async signIn(machine: Machine, ...args: readonly string[]): Promise<void> {
    const seen = mailsOf(this.dataFolder).length;
    await this.signInBy(() => this.#mailedLink(seen + 1), machine, ...args);
  }

  /** The same where mail goes elsewhere. */
  async signInBy(
    mailedLink: () => Promise<string>,
    machine: Machine,
    ...args: readonly string[]
  ): Promise<void> {
    const signing = machine.start(['login', '--gateway', this.url, ...args]);
    const code = (await signing.prints(CODE)).trim();
    await visit(await mailedLink(), { button: 'Confirm', typed: { code } });
    const { code: exit, err } = await signing.ended;
    if (exit !== 0) throw new Error(`svc login: exit ${exit}: ${err}`);
  }

  async #mailedLink(count: number): Promise<string> {
    return `${this.url}/s/${await linkToken(this.dataFolder, 's', count)}`;
  }
}
