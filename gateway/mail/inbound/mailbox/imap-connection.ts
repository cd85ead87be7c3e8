import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow';
import { MAIL_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import type { ImapConfig } from '../imap-config.ts';

/** How much of the headers to fetch from a mail that is too large. */
const HEADERS_MAX_BYTES = 256 * 1024;
/** A response is a mail plus a little more, or a list of UIDs. */
const RESPONSE_MAX_BYTES = MAIL_MAX_BYTES + 8 * 1024 * 1024;
/** How often we check for new bytes within the time of silence that we allow. */
const WATCH_STEPS = 8;
const DONE = '$svcDone';

/** How long the server may take. */
export interface ImapTimeouts {
  readonly connectMs: number;
  /** Without a single byte, while a command is pending. */
  readonly silenceMs: number;
  readonly noopMs: number;
  readonly farewellMs: number;
}

export interface ListedMail {
  readonly uid: number;
  readonly sizeBytes: number;
  /** It has the mark of mails that were taken. */
  readonly isMarked: boolean;
}

export interface FetchedMail {
  readonly uid: number;
  readonly raw: Uint8Array;
  /** False if `raw` has only the headers. */
  readonly whole: boolean;
}

interface ConnectionOptions {
  readonly server: ImapConfig;
  readonly timeouts: ImapTimeouts;
  /** The CA to trust, as PEM; for tests. */
  readonly ca?: string;
}

/** The connection is gone, or as good as gone. */
export class LostConnectionError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'LostConnectionError';
  }
}

/**
 * One connection to an IMAP server with one mailbox selected. Every call rejects once the connection is lost. If the
 * server stays silent for too long, the connection counts as lost.
 */
export class ImapConnection {
  readonly #client: ImapFlow;
  readonly #timeouts: ImapTimeouts;
  #hasNews = false;

  private constructor(client: ImapFlow, timeouts: ImapTimeouts) {
    this.#client = client;
    this.#timeouts = timeouts;
  }

  /** Gives up when `signal` aborts. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<ImapConnection> {
    const client = await makeClient(options);
    const connection = new ImapConnection(client, options.timeouts);
    const giveUp = (): void => client.close();
    signal.addEventListener('abort', giveUp);
    // Pending calls get the error too; without a listener it would end the process.
    client.on('error', () => client.close());
    client.on('exists', () => {
      connection.#hasNews = true;
    });
    try {
      if (signal.aborted) giveUp();
      await connection.#watch(client.connect());
      // Never released: the library then accepts silence between commands.
      await connection.#watch(
        client.getMailboxLock(options.server.mailbox, { maxLockHoldTime: false }),
      );
      return connection;
    } catch (error) {
      client.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  get uidValidity(): number {
    return this.#client.mailbox ? Number(this.#client.mailbox.uidValidity) : 0;
  }

  /** Above every existing UID; infinite if the server doesn't say. */
  get uidNext(): number {
    return (this.#client.mailbox && this.#client.mailbox.uidNext) || Number.POSITIVE_INFINITY;
  }

  /** The UIDs above `uid`, in ascending order. */
  async beyond(uid: number): Promise<number[]> {
    this.#hasNews = false;
    const found = await this.#watch(this.#client.search({ uid: `${uid + 1}:*` }, { uid: true }));
    if (!Array.isArray(found)) throw this.#lost('SEARCH was refused');
    // `*` is the newest mail, even if its UID isn't above `uid`.
    return found.filter((one) => one > uid).toSorted((a, b) => a - b);
  }

  /** Lists the mails that still exist, as the answers arrive. */
  async list(uids: readonly number[], onEach: (mail: ListedMail) => void): Promise<void> {
    const query = { uid: true, size: true, flags: true };
    await this.#fetch(uids, query, ({ uid, size = 0, flags }) => {
      onEach({ uid, sizeBytes: size, isMarked: flags?.has(DONE) ?? false });
    });
  }

  /** Fetches the mails that still exist, as they arrive; only the headers if a mail is too large. */
  async fetch(mails: readonly ListedMail[], onEach: (mail: FetchedMail) => void): Promise<void> {
    const large = mails.filter(({ sizeBytes }) => sizeBytes > MAIL_MAX_BYTES);
    const others = mails.filter(({ sizeBytes }) => sizeBytes <= MAIL_MAX_BYTES);
    const tooLarge = new Set(large.map(({ uid }) => uid));
    // The server may state a wrong size: one byte more than allowed shows that.
    const source = { start: 0, maxLength: MAIL_MAX_BYTES + 1 };
    await this.#fetch(uidsOf(others), { uid: true, source }, ({ uid, source: raw }) => {
      if (!raw) return;
      if (raw.length <= MAIL_MAX_BYTES) onEach({ uid, raw, whole: true });
      else tooLarge.add(uid);
    });
    const header = { key: 'HEADER', start: 0, maxLength: HEADERS_MAX_BYTES };
    const query = { uid: true, bodyParts: [header] };
    await this.#fetch([...tooLarge], query, ({ uid, headers }) => {
      if (headers) onEach({ uid, raw: headers, whole: false });
    });
  }

  /** Moves mails to a folder, and creates it if it's missing. False if the server doesn't let us. */
  async move(uids: readonly number[], folder: string): Promise<boolean> {
    const range = uids.join(',');
    const move = async (): Promise<boolean> => {
      const moved = await this.#watch(this.#client.messageMove(range, folder, { uid: true }));
      if (!moved && !this.#client.usable) throw this.#lost('MOVE was cut off');
      return Boolean(moved);
    };
    if (await move()) return true;
    try {
      await this.#watch(this.#client.mailboxCreate(folder));
    } catch (error) {
      if (!this.#client.usable) throw error;
    }
    return move();
  }

  /** Marks mails as read and taken, as far as the server lets us. */
  async mark(uids: readonly number[]): Promise<void> {
    const flags = ['\\Seen', DONE];
    await this.#watch(this.#client.messageFlagsAdd(uids.join(','), flags, { uid: true }));
    if (!this.#client.usable) throw this.#lost('STORE was cut off');
  }

  /** Waits for new mail, for at most `ms`, or until `signal` aborts or the connection is lost. */
  async news(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#hasNews || signal.aborted) return;
    // The next command ends IDLE. A server without IDLE is only polled.
    if (this.#client.capabilities.has('IDLE')) this.#client.idle().catch(() => undefined);
    const over = new AbortController();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        over.abort();
        this.#client.off('exists', done);
        this.#client.off('close', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true, signal: over.signal });
      this.#client.on('exists', done);
      this.#client.on('close', done);
    });
    // Detects a dead server here, before anything depends on it.
    if (!signal.aborted) await this.#watch(this.#client.noop(), this.#timeouts.noopMs);
    if (!this.#client.usable) throw this.#lost('the server hung up');
  }

  /** Logs out if that's quick, and closes the connection. */
  async close(): Promise<void> {
    await this.#watch(this.#client.logout(), this.#timeouts.farewellMs).catch(() => undefined);
    this.#client.close();
  }

  /** Closes the connection at once. */
  drop(): void {
    this.#client.close();
  }

  async #fetch(
    uids: readonly number[],
    query: FetchQueryObject,
    onEach: (mail: FetchMessageObject) => void,
  ): Promise<void> {
    if (uids.length === 0) return;
    const asked = new Set(uids);
    const all = async (): Promise<void> => {
      const mails = this.#client.fetch(uids.join(','), query, { uid: true });
      // The server also reports what others do to mails, such as reading them (RFC 9051 section 7.5.2).
      for await (const mail of mails) if (asked.has(mail.uid)) onEach(mail);
    };
    await this.#watch(all());
    if (!this.#client.usable) throw this.#lost('FETCH was cut off');
  }

  /** Waits for an answer, and drops the connection if no byte arrives for `silenceMs`. */
  async #watch<T>(answer: Promise<T>, silenceMs = this.#timeouts.silenceMs): Promise<T> {
    let received = this.#client.stats().received;
    let silentSteps = 0;
    const isSilent = (): boolean => silentSteps >= WATCH_STEPS;
    const timer = setInterval(() => {
      const now = this.#client.stats().received;
      silentSteps = now === received ? silentSteps + 1 : 0;
      received = now;
      if (isSilent()) this.#client.close();
    }, silenceMs / WATCH_STEPS);
    try {
      const value = await answer;
      // The library doesn't always reject when an answer was cut off.
      if (!isSilent()) return value;
    } catch (error) {
      if (!isSilent()) throw error;
    } finally {
      clearInterval(timer);
    }
    throw this.#lost('the server says nothing');
  }

  #lost(reason: string): LostConnectionError {
    this.#client.close();
    return new LostConnectionError(reason);
  }
}

async function makeClient({ server, timeouts, ca }: ConnectionOptions): Promise<ImapFlow> {
  // Loaded only if there's a mailbox.
  const { ImapFlow } = await import('imapflow');
  const { host, port, tls, user, password } = server;
  return new ImapFlow({
    host,
    port,
    secure: tls === 'from_start',
    ...(tls !== 'from_start' && { doSTARTTLS: tls === 'starttls' }),
    auth: { user, pass: password.reveal() },
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.connectMs,
    maxLiteralSize: MAIL_MAX_BYTES + 1,
    maxLineLength: RESPONSE_MAX_BYTES,
    maxResponseSize: RESPONSE_MAX_BYTES,
    disableAutoIdle: true,
    // Decompressed data would have no size limit.
    disableCompression: true,
    clientInfo: { name: 'svc', version: false, vendor: false, 'support-url': false },
    // The library's log contains addresses and mail content.
    logger: false,
  });
}

function uidsOf(mails: readonly ListedMail[]): number[] {
  return mails.map(({ uid }) => uid);
}
