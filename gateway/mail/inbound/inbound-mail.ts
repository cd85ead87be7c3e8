import type { Logger } from 'pino';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { ControlStore } from '../../store/control-store.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { LeaderTask } from '../../projects/cluster.ts';
import type { Projects } from '../../projects/projects.ts';
import type { MailConfig } from '../mail-config.ts';
import { MailRouter } from './mail-router.ts';
import type { Mailbox } from './mailbox/mailbox.ts';
import type { ImapConfig } from './imap-config.ts';
import type { MailReader } from './read-mail.ts';
import { ThreadMailReader } from './reader/thread-reader.ts';

interface InboundMailDeps {
  readonly config: MailConfig;
  readonly projects: Projects;
  readonly control: ControlStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
}

/** Mail that comes in: the reader of all of it, and the mailbox that it is taken from, where there is one. */
export class InboundMail {
  readonly reader: MailReader;
  readonly #deps: InboundMailDeps;
  #mailbox: Mailbox | null = null;

  constructor(deps: InboundMailDeps) {
    this.#deps = deps;
    this.reader = new ThreadMailReader({ dnsServers: deps.config.dnsServers });
  }

  /** To take what is in the mailbox; null where there is none. Nobody waits for the mail server: a start without it is a start. */
  get leaderTask(): LeaderTask | null {
    const { imap, domain } = this.#deps.config;
    if (imap === null || domain === null) return null;
    return {
      name: 'mailbox',
      start: () => this.#open(imap, domain),
      stop: () => this.#closeMailbox(),
    };
  }

  async #open(imap: ImapConfig, domain: string): Promise<void> {
    const { projects, control, clock, log, metrics } = this.#deps;
    // Its package is loaded only where there is a mailbox.
    const { Mailbox: Box } = await import('./mailbox/mailbox.ts');
    const taker = new MailRouter({ projects, reader: this.reader, clock, domain, metrics });
    this.#mailbox = await Box.open({ place: imap, store: control.mailboxes, taker, clock, log });
    this.#mailbox.start();
  }

  /** What is known of the mailbox; null where there is none. */
  get status(): ReturnType<Mailbox['status']> | null {
    return this.#mailbox?.status() ?? null;
  }

  /** Lets the mails at hand end, for a short while. */
  async close(): Promise<void> {
    await this.#closeMailbox();
    await this.reader.close();
  }

  async #closeMailbox(): Promise<void> {
    const mailbox = this.#mailbox;
    this.#mailbox = null;
    await mailbox?.close();
  }
}
