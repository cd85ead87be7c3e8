import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { vi } from 'vitest';
import { Mailbox } from '../../../../../gateway/mail/inbound/mailbox/mailbox.ts';
import type { ImapConfig } from '../../../../../gateway/mail/inbound/imap-config.ts';
import type { MailOutcome } from '../../../../../gateway/lib/metrics.ts';
import type { MailTaker } from '../../../../../gateway/mail/inbound/mail-taker.ts';
import { Password } from '../../../../../gateway/mail/password.ts';
import { systemClock } from '../../../../../shared/lib/clock.ts';
import { ControlStore } from '../../../../../gateway/store/control-store.ts';
import { temporaryFolder } from '../../../../helpers/gateway.ts';
import type { MailLab } from '../../../../helpers/mail-lab.ts';

type Options = Parameters<typeof Mailbox.open>[0];
type Mail = Parameters<MailTaker['take']>[0];

/** Pauses that are short enough for a test, and a stop that is long enough for it; none of them is measured. */
const TIMINGS = {
  pauses: { firstMs: 50, maxMs: 200 },
  longPauses: { firstMs: 50, maxMs: 300 },
  closeMs: 20_000,
} as const;
export const SOON = { timeout: 60_000, interval: 20 } as const;

/** A mail with a subject of its own. */
export function mailAbout(subject: string, body = 'Hello.'): string {
  return `From: Ann <ann@people.test>\r\nTo: shop@inbox.test\r\nSubject: ${subject}\r\n\r\n${body}\r\n`;
}

/** Keeps what it is given, once each, and does as it is told. */
class RecordingTaker implements MailTaker {
  /** The subjects of mails that were taken, in the order they were. */
  readonly subjects: string[] = [];
  readonly mails: Mail[] = [];
  duplicates = 0;
  mostAtOnce = 0;
  /** How often it was asked about a subject. */
  readonly asked = new Map<string, number>();
  isUnknown: (subject: string) => boolean = () => false;
  isRejected: (subject: string) => boolean = () => false;
  #held: Promise<void> = Promise.resolve();
  readonly #digests = new Set<string>();
  #atOnce = 0;

  /** Nothing more is taken until what it returns is called. */
  hold(): () => void {
    const { promise, resolve } = deferred();
    this.#held = promise;
    return resolve;
  }

  async take(mail: Mail): Promise<MailOutcome> {
    const text = Buffer.from(mail.raw).toString('latin1');
    const subject = /^Subject: (.*)\r$/m.exec(text)?.[1] ?? '';
    this.asked.set(subject, (this.asked.get(subject) ?? 0) + 1);
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      await this.#held;
      await new Promise(setImmediate);
      return this.#take(mail, subject);
    } finally {
      this.#atOnce -= 1;
    }
  }

  #take(mail: Mail, subject: string): MailOutcome {
    if (this.isRejected(subject)) throw new Error('the disk is full');
    if (this.isUnknown(subject)) return 'unknown_recipient';
    const digest = createHash('sha256').update(mail.raw).digest('hex');
    if (this.#digests.has(digest)) {
      this.duplicates += 1;
      return 'duplicate';
    }
    this.#digests.add(digest);
    this.subjects.push(subject);
    this.mails.push(mail);
    return 'delivered';
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: (() => void) | undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve?.() };
}

interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A mailbox of the lab that nobody else uses, what reads it, and what is known of it. */
export class MailboxWorld {
  readonly user: string;
  readonly taker = new RecordingTaker();
  readonly lines: LogLine[] = [];
  readonly #lab: MailLab;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly #mailboxes: Mailbox[] = [];
  #control: ControlStore;

  private constructor(
    lab: MailLab,
    user: string,
    folder: { path: string; remove: () => void },
    control: ControlStore,
  ) {
    this.#lab = lab;
    this.user = `${user}@people.test`;
    this.#folder = folder;
    this.#control = control;
  }

  static async open(lab: MailLab, user: string): Promise<MailboxWorld> {
    const folder = temporaryFolder();
    return new MailboxWorld(lab, user, folder, await openControl(folder.path));
  }

  get control(): ControlStore {
    return this.#control;
  }

  get cursorName(): string {
    return `127.0.0.1/${this.user}/INBOX`;
  }

  append(raw: string | ((index: number) => string), count = 1): void {
    this.#lab.append(raw, count, this.user);
  }

  /** How many mails lie in a folder; in the inbox when it is not named. */
  count(folder = ''): number {
    return this.#lab.mails(folder, this.user).length;
  }

  messages(): string[] {
    return this.lines.map(({ message }) => message);
  }

  /** Opens and starts it. */
  async open(
    place: Partial<ImapConfig> = {},
    options: Partial<Omit<Options, 'place'>> = {},
  ): Promise<Mailbox> {
    const mailbox = await Mailbox.open({
      server: {
        host: '127.0.0.1',
        port: this.#lab.imapPort,
        tls: 'off',
        user: this.user,
        password: new Password(this.#lab.password),
        mailbox: 'INBOX',
        ...place,
      },
      store: this.#control.mailboxes,
      taker: this.taker,
      clock: systemClock(),
      log: this.#log(),
      ...options,
      timings: { ...TIMINGS, ...options.timings },
    });
    this.#mailboxes.push(mailbox);
    mailbox.start();
    return mailbox;
  }

  /** As another process would find it. */
  async reopenControl(): Promise<void> {
    await this.#control.close();
    this.#control = await openControl(this.#folder.path);
  }

  async taken(count: number): Promise<void> {
    await vi.waitFor(() => {
      if (this.taker.subjects.length < count)
        throw new Error(`${this.taker.subjects.length} taken`);
    }, SOON);
  }

  async end(): Promise<void> {
    await Promise.all(this.#mailboxes.map((mailbox) => mailbox.close()));
    await this.#control.close();
    this.#folder.remove();
  }

  #log(): Options['log'] {
    const at =
      (level: LogLine['level']) =>
      (...args: unknown[]): void => {
        const [fields, message] = args.length > 1 ? args : [{}, args[0]];
        this.lines.push({ level, fields: fields as LogLine['fields'], message: String(message) });
      };
    return { info: at('info'), warn: at('warn'), error: at('error') };
  }
}

function openControl(folder: string): Promise<ControlStore> {
  return ControlStore.open({ kind: 'file', path: join(folder, 'control.db') }, (error) => {
    throw error;
  });
}
