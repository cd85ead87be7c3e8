import type { Logger } from 'pino';
import type { BackgroundTask } from '../../lib/background-task.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { ControlStore } from '../../store/control-store.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { IngressGuard } from '../../projects/limits/ingress-guard.ts';
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
  readonly guard: IngressGuard;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
}

/** Incoming mail: its reader, and the mailbox it comes from, if there is one. */
export class InboundMail {
  readonly reader: MailReader;
  readonly #deps: InboundMailDeps;
  #mailbox: Mailbox | null = null;

  constructor(deps: InboundMailDeps) {
    this.#deps = deps;
    this.reader = new ThreadMailReader({ dnsServers: deps.config.dnsServers });
  }

  /** The task that takes mail from the mailbox; null without one. Starting doesn't wait for the mail server. */
  get task(): BackgroundTask | null {
    const { imap, domain } = this.#deps.config;
    if (imap === null || domain === null) return null;
    return {
      name: 'mailbox',
      start: () => this.#open(imap, domain),
      stop: () => this.#closeMailbox(),
    };
  }

  async #open(imap: ImapConfig, domain: string): Promise<void> {
    const { projects, control, guard, clock, log, metrics } = this.#deps;
    // Loads the IMAP package only if there's a mailbox.
    const { Mailbox: Box } = await import('./mailbox/mailbox.ts');
    const taker = new MailRouter({
      projects,
      reader: this.reader,
      guard,
      clock,
      domain,
      metrics,
    });
    this.#mailbox = await Box.open({ server: imap, store: control.mailboxes, taker, clock, log });
    this.#mailbox.start();
  }

  /** The mailbox's status; null while this gateway reads none. */
  get status(): ReturnType<Mailbox['status']> | null {
    return this.#mailbox?.status() ?? null;
  }

  /** Waits briefly for mails in progress. */
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
