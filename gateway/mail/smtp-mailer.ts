import { setTimeout as sleep } from 'node:timers/promises';
import type SMTPPool from 'nodemailer/lib/smtp-pool';
import type { Clock } from '../../shared/lib/clock.ts';
import { domainOf } from '../../shared/rules/mail/mail-address.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { composeMail } from './compose.ts';
import { dkimSignature } from './dkim.ts';
import type { DkimConfig, SmtpConfig } from './mail-config.ts';
import { heldBack, type Mailer, type MailResult, type OutgoingMail } from './mailer.ts';
import { InFlightMail } from './outbound/in-flight.ts';
import { smtpFailure } from './smtp-failure.ts';

/** How long connecting and the server's greeting may take. */
const GREETING_TIMEOUT_MS = 15_000;
/**
 * How long the server may take to answer. It's usually quick, but not while it filters a mail; if we hang up then, the
 * mail may be sent without our knowing (RFC 5321 section 4.5.3.2.6, which allows more).
 */
const ANSWER_TIMEOUT_MS = 120_000;
/** A mail gets the time of this many late answers, including the wait for its turn; then we give up. */
const STEPS_MAX = 3;
const CONNECTIONS_MAX = 5;
/** Connections stay open for a burst of mails, no longer. */
const IDLE_MS = 20_000;
const CLOSE_GRACE_MS = 3000;
/** Limit on the unencoded bytes of mails being sent; others wait. The last one admitted may exceed it. */
const IN_HAND_BYTES_MAX = 32 * 1024 * 1024;
/** Allowance for the headers and bookkeeping of a mail being sent. */
const MAIL_BYTES = 4096;

interface SmtpMailerOptions {
  readonly place: SmtpConfig;
  readonly clock: Clock;
  /** The key that signs every mail. */
  readonly dkim?: DkimConfig | null;
  /** The rest is for tests. */
  readonly stepTimeoutMs?: number;
  readonly ca?: string;
}

/** Sends mail by SMTP over a few reused connections. */
export class SmtpMailer implements Mailer {
  readonly #place: SmtpConfig;
  readonly #clock: Clock;
  readonly #dkim: DkimConfig | null;
  readonly #deadlineMs: number;
  readonly #pool: SMTPPool;
  readonly #underWay = new Set<Promise<MailResult>>();
  readonly #inHand = new Semaphore(IN_HAND_BYTES_MAX);

  private constructor(options: SmtpMailerOptions, pool: SMTPPool) {
    this.#place = options.place;
    this.#clock = options.clock;
    this.#dkim = options.dkim ?? null;
    this.#deadlineMs = (options.stepTimeoutMs ?? ANSWER_TIMEOUT_MS) * STEPS_MAX;
    this.#pool = pool;
  }

  /** Doesn't connect yet. */
  static async open(options: SmtpMailerOptions): Promise<SmtpMailer> {
    return new SmtpMailer(options, await openPool(options));
  }

  async send(mail: OutgoingMail): Promise<MailResult> {
    const sending = this.#sendInTurn(mail);
    this.#underWay.add(sending);
    try {
      return await sending;
    } finally {
      this.#underWay.delete(sending);
    }
  }

  async close(): Promise<void> {
    this.#pool.close();
    const grace = new AbortController();
    const signal = grace.signal;
    await Promise.race([
      Promise.all(this.#underWay),
      sleep(CLOSE_GRACE_MS, undefined, { signal }).catch(() => undefined),
    ]);
    grace.abort();
    this.#pool.close({ force: true });
  }

  #sendInTurn(mail: OutgoingMail): Promise<MailResult> {
    const signal = AbortSignal.timeout(this.#deadlineMs);
    return this.#inHand.within(sizeOf(mail), () => this.#send(mail, signal));
  }

  async #send(mail: OutgoingMail, signal: AbortSignal): Promise<MailResult> {
    let inFlight: InFlightMail | null = null;
    try {
      signal.throwIfAborted();
      const { messageId, raw } = await composeMail(mail, this.#clock.now());
      inFlight = new InFlightMail([...(await this.#signatureOf(raw, mail)), raw], mail.beforeData);
      const { from, to, returnPath = from } = mail;
      await handOver(this.#pool, {
        envelope: { from: returnPath, to },
        messageId,
        inFlight,
        signal,
      });
      return { outcome: 'sent', messageId };
    } catch (error) {
      // Don't answer while the caller's `beforeData` is still running.
      await inFlight?.settled();
      if (inFlight?.isHeldBack) return heldBack();
      const isWhole = inFlight?.isWhole ?? false;
      return smtpFailure(error, { isWhole, credentials: this.#place.credentials });
    }
  }

  async #signatureOf(raw: Buffer, { from }: OutgoingMail): Promise<Buffer[]> {
    if (!this.#dkim) return [];
    const { selector, key } = this.#dkim;
    return [await dkimSignature(raw, { domain: domainOf(from), selector, key }, this.#clock.now())];
  }
}

function sizeOf({ text, html = '', attachments = [] }: OutgoingMail): number {
  const files = attachments.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return MAIL_BYTES + text.length + html.length + files;
}

interface Parcel {
  readonly envelope: { readonly from: string; readonly to: string };
  readonly messageId: string;
  readonly inFlight: InFlightMail;
  readonly signal: AbortSignal;
}

/**
 * Resolves when a server has accepted the mail. Nodemailer's own `sendMail` reads a mail as soon as it has a connection,
 * so we give the pool the same kind of object, but one that is read only when the server is ready.
 */
function handOver(
  pool: SMTPPool,
  { envelope, messageId, inFlight, signal }: Parcel,
): Promise<void> {
  const { from, to } = envelope;
  const mail = {
    data: { signal },
    message: {
      getEnvelope: () => ({ from, to: [to], size: inFlight.sizeBytes }),
      getHeader: () => messageId,
      messageId: () => messageId,
      createReadStream: () => inFlight.open(),
    },
  } as unknown as Parameters<SMTPPool['send']>[0];
  return new Promise((resolve, reject) => {
    pool.send(mail, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

async function openPool({ place, stepTimeoutMs, ca }: SmtpMailerOptions) {
  // Loaded only if there's a mail server.
  const { default: Pool } = await import('nodemailer/lib/smtp-pool');
  const { host, port, tls, credentials } = place;
  return new Pool({
    host,
    port,
    secure: tls === 'from_start',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    ...(credentials && {
      auth: { user: credentials.user, pass: credentials.password.reveal() },
    }),
    connectionTimeout: stepTimeoutMs ?? GREETING_TIMEOUT_MS,
    greetingTimeout: stepTimeoutMs ?? GREETING_TIMEOUT_MS,
    socketTimeout: stepTimeoutMs ?? ANSWER_TIMEOUT_MS,
    dnsTimeout: stepTimeoutMs ?? GREETING_TIMEOUT_MS,
    idleTimeout: IDLE_MS,
    maxConnections: CONNECTIONS_MAX,
    // For a mail that got an idle connection the server had already closed: none of its bytes went out.
    maxRequeues: 1,
    // Nodemailer's log contains names and addresses.
    logger: false,
  });
}
