import type { Logger } from 'pino';
import type { Clock } from '../../../shared/clock.ts';
import type { ControlStore } from '../../../shared/store/control-store.ts';
import type { Observer } from '../../observer.ts';
import type { Projects } from '../../projects.ts';
import type { MailConfig } from '../mail-config.ts';
import { MailRoom } from './mail-room.ts';
import type { Mailbox } from './mailbox/mailbox.ts';
import type { MailReader } from './read-mail.ts';
import { ThreadMailReader } from './reader/thread-reader.ts';

interface InboundMailParts {
  readonly config: MailConfig;
  readonly projects: Projects;
  readonly control: ControlStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: Observer | undefined;
}

/** Mail that comes in: the reader of all of it, and the mailbox that it is taken from, where there is one. */
export class InboundMail {
  readonly reader: MailReader;
  readonly #parts: InboundMailParts;
  #mailbox: Mailbox | null = null;

  constructor(parts: InboundMailParts) {
    this.#parts = parts;
    this.reader = new ThreadMailReader({ dnsServers: parts.config.dnsServers });
  }

  /** Begins to take what is in the mailbox. Nobody waits for it: a start without the mail server is a start. */
  async start(): Promise<void> {
    const { config, projects, control, clock, log, observer } = this.#parts;
    const { imap, domain } = config;
    if (imap === null || domain === null) return;
    // Its package is loaded only where there is a mailbox.
    const { Mailbox: Box } = await import('./mailbox/mailbox.ts');
    const taker = new MailRoom({ projects, reader: this.reader, clock, domain, observer });
    this.#mailbox = await Box.open({ place: imap, store: control.mailboxes, taker, clock, log });
    this.#mailbox.start();
  }

  /** What is known of the mailbox; null where there is none. */
  get status(): ReturnType<Mailbox['status']> | null {
    return this.#mailbox?.status() ?? null;
  }

  /** Lets the mails at hand end, for a short while. */
  async close(): Promise<void> {
    await this.#mailbox?.close();
    await this.reader.close();
  }
}
