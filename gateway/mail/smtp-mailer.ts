import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { Sent } from '../people/desk.ts';
import { composeMail } from './compose.ts';
import type { SmtpPlace } from './mail-config.ts';
import type { Mailer, OutgoingMail } from './mailer.ts';
import { smtpFailure } from './smtp-failure.ts';

/** How long any one step of a conversation may take. */
const STEP_TIMEOUT_MS = 15_000;
/** A mail that waits for its turn and then meets a server that answers each step late is given up after so many steps. */
const STEPS_MAX = 6;
/** Connections are kept for a burst of mails, no longer. */
const IDLE_MS = 20_000;
const CLOSE_GRACE_MS = 3000;

interface SmtpMailerOptions {
  readonly place: SmtpPlace;
  readonly clock: Clock;
  /** These are there for tests. */
  readonly stepTimeoutMs?: number;
  readonly ca?: string;
}

/** Sends mail by SMTP, over a few connections that serve several mails. */
export class SmtpMailer implements Mailer {
  readonly #place: SmtpPlace;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #transport: Transport;
  readonly #underWay = new Set<Promise<Sent>>();

  private constructor(options: SmtpMailerOptions, transport: Transport) {
    this.#place = options.place;
    this.#clock = options.clock;
    this.#deadlineMs = (options.stepTimeoutMs ?? STEP_TIMEOUT_MS) * STEPS_MAX;
    this.#transport = transport;
  }

  /** Connects to nobody yet. */
  static async open(options: SmtpMailerOptions): Promise<SmtpMailer> {
    return new SmtpMailer(options, await openTransport(options));
  }

  async send(mail: OutgoingMail): Promise<Sent> {
    const sending = this.#send(mail);
    this.#underWay.add(sending);
    try {
      return await sending;
    } finally {
      this.#underWay.delete(sending);
    }
  }

  async close(): Promise<void> {
    this.#transport.close();
    const grace = new AbortController();
    const signal = grace.signal;
    await Promise.race([
      Promise.all(this.#underWay),
      sleep(CLOSE_GRACE_MS, undefined, { signal }).catch(() => undefined),
    ]);
    grace.abort();
    this.#transport.close({ force: true });
  }

  async #send(mail: OutgoingMail): Promise<Sent> {
    try {
      const { messageId, from, to, raw } = await composeMail(mail, this.#clock.now());
      const signal = AbortSignal.timeout(this.#deadlineMs);
      await this.#transport.sendMail({ envelope: { from, to: [to] }, raw, signal });
      return { outcome: 'sent', messageId };
    } catch (error) {
      return smtpFailure(error, this.#place.credentials);
    }
  }
}

type Transport = Awaited<ReturnType<typeof openTransport>>;

async function openTransport({ place, stepTimeoutMs = STEP_TIMEOUT_MS, ca }: SmtpMailerOptions) {
  // Loaded only where there is a mail server.
  const { createTransport } = await import('nodemailer');
  const { host, port, tls, credentials } = place;
  return createTransport({
    pool: true,
    host,
    port,
    secure: tls === 'from_start',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    ...(credentials && {
      auth: { user: credentials.user, pass: credentials.password.reveal() },
    }),
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    dnsTimeout: stepTimeoutMs,
    idleTimeout: IDLE_MS,
    // For a mail of which no byte was sent over a kept connection that the server had closed by then.
    maxRequeues: 1,
    // Its log has names and addresses.
    logger: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
