import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow';
import { MAIL_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import type { ImapConfig } from '../imap-config.ts';

/** Of a mail that is too large, so much of its headers. */
const HEADERS_MAX_BYTES = 256 * 1024;
/** A response is a mail with little beside, or a list of UIDs. */
const RESPONSE_MAX_BYTES = MAIL_MAX_BYTES + 8 * 1024 * 1024;
/** While an answer is awaited, it is looked so often whether bytes came. */
const WATCH_STEPS = 8;
const DONE = '$svcDone';

/** How long the server may take. */
export interface ImapTimeouts {
  readonly connectMs: number;
  /** Without a single byte, while a command is out. */
  readonly silenceMs: number;
  readonly noopMs: number;
  readonly farewellMs: number;
}

export interface ListedMail {
  readonly uid: number;
  readonly sizeBytes: number;
  /** It bears the mark of mails that are taken. */
  readonly isMarked: boolean;
}

export interface FetchedMail {
  readonly uid: number;
  readonly raw: Uint8Array;
  /** False when `raw` has the headers alone. */
  readonly whole: boolean;
}

interface ConnectionOptions {
  readonly place: ImapConfig;
  readonly timeouts: ImapTimeouts;
  /** Who vouches for the server, as PEM; there for tests. */
  readonly ca?: string;
}

/** The connection is gone, or as good as gone. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ConnectionLost';
  }
}

/**
 * One connection to an IMAP server with one mailbox selected. Whatever it is asked rejects once the connection is lost,
 * which a server that says nothing for too long has brought about.
 */
export class ImapConnection {
  readonly #client: ImapFlow;
  readonly #timeouts: ImapTimeouts;
  #hasNews = false;

  private constructor(client: ImapFlow, timeouts: ImapTimeouts) {
    this.#client = client;
    this.#timeouts = timeouts;
  }

  /** Gives up when it is aborted. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<ImapConnection> {
    const client = await makeClient(options);
    const connection = new ImapConnection(client, options.timeouts);
    const giveUp = (): void => client.close();
    signal.addEventListener('abort', giveUp);
    // Whoever waits for an answer is told; without a listener it would end the process.
    client.on('error', () => client.close());
    client.on('exists', () => {
      connection.#hasNews = true;
    });
    try {
      if (signal.aborted) giveUp();
      await connection.#watch(client.connect());
      // Held for good: the library then takes silence between commands for what it is.
      await connection.#watch(
        client.getMailboxLock(options.place.mailbox, { maxLockHoldTime: false }),
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

  /** Above every UID there is; without a bound where the server does not tell. */
  get uidNext(): number {
    return (this.#client.mailbox && this.#client.mailbox.uidNext) || Number.POSITIVE_INFINITY;
  }

  /** The UIDs beyond one, in ascending order. */
  async beyond(uid: number): Promise<number[]> {
    this.#hasNews = false;
    const found = await this.#watch(this.#client.search({ uid: `${uid + 1}:*` }, { uid: true }));
    if (!Array.isArray(found)) throw this.#lost('SEARCH was refused');
    // `*` is the newest mail, even where it is not beyond.
    return found.filter((one) => one > uid).toSorted((a, b) => a - b);
  }

  /** What there is to say of those that are still there, as it comes. */
  async list(uids: readonly number[], onEach: (mail: ListedMail) => void): Promise<void> {
    const query = { uid: true, size: true, flags: true };
    await this.#fetch(uids, query, ({ uid, size = 0, flags }) => {
      onEach({ uid, sizeBytes: size, isMarked: flags?.has(DONE) ?? false });
    });
  }

  /** Those that are still there, as they come; of those that are too large the headers. */
  async fetch(mails: readonly ListedMail[], onEach: (mail: FetchedMail) => void): Promise<void> {
    const large = mails.filter(({ sizeBytes }) => sizeBytes > MAIL_MAX_BYTES);
    const others = mails.filter(({ sizeBytes }) => sizeBytes <= MAIL_MAX_BYTES);
    const tooLarge = new Set(large.map(({ uid }) => uid));
    // The size is what the server says: one byte more shows that it is wrong.
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

  /** Moves mails to a folder, which is made when it is missing. False where the server does not let us. */
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

  /** Until there is something new, the time is over, the connection is lost, or it is aborted. */
  async news(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#hasNews || signal.aborted) return;
    // Ended by the next command. Without IDLE the looks at intervals have to do.
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
    // A server that answers nothing is found out here, before anything depends on it.
    if (!signal.aborted) await this.#watch(this.#client.noop(), this.#timeouts.noopMs);
    if (!this.#client.usable) throw this.#lost('the server hung up');
  }

  /** Takes leave, if that is quick. */
  async close(): Promise<void> {
    await this.#watch(this.#client.logout(), this.#timeouts.farewellMs).catch(() => undefined);
    this.#client.close();
  }

  /** Ends it at once. */
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
      // In between it is told what others do to mails, such as to read them (RFC 9051 section 7.5.2).
      for await (const mail of mails) if (asked.has(mail.uid)) onEach(mail);
    };
    await this.#watch(all());
    if (!this.#client.usable) throw this.#lost('FETCH was cut off');
  }

  /** Drops the connection when no byte comes for so long while something is waited for. */
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
      // Not every answer of the library tells that it was cut off.
      if (!isSilent()) return value;
    } catch (error) {
      if (!isSilent()) throw error;
    } finally {
      clearInterval(timer);
    }
    throw this.#lost('the server says nothing');
  }

  #lost(reason: string): ConnectionLost {
    this.#client.close();
    return new ConnectionLost(reason);
  }
}

async function makeClient({ place, timeouts, ca }: ConnectionOptions): Promise<ImapFlow> {
  // Loaded only where there is a mailbox.
  const { ImapFlow } = await import('imapflow');
  const { host, port, tls, user, password } = place;
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
    // What is unpacked has no bound.
    disableCompression: true,
    clientInfo: { name: 'svc', version: false, vendor: false, 'support-url': false },
    // Its log has addresses and contents.
    logger: false,
  });
}

function uidsOf(mails: readonly ListedMail[]): number[] {
  return mails.map(({ uid }) => uid);
}
