import type { Clock } from '../../../../shared/lib/clock.ts';
import type { MailboxStore } from '../../../store/control/mailboxes.ts';
import { backoffMs, pause, PAUSES, type Pauses } from '../../../lib/backoff.ts';
import type { ImapConfig } from '../imap-config.ts';
import type { MailTaker } from '../mail-taker.ts';
import { ImapConnection, type ImapTimeouts } from './imap-connection.ts';
import { Intake } from './intake.ts';
import { isLoginRefused, MailboxLog, type Log } from './mailbox-log.ts';
import { Progress } from './progress.ts';

/** How long things take. */
interface Timings {
  /** After this long without news we check the mailbox anyway. */
  readonly pollMs: number;
  /** Between attempts to connect, and while mails are rejected. */
  readonly pauses: Pauses;
  /** Between refused logins, and between attempts at a mail that was set aside. */
  readonly longPauses: Pauses;
  /** For the whole stop. */
  readonly closeMs: number;
  readonly timeouts: ImapTimeouts;
}

const TIMINGS: Timings = {
  pollMs: 60_000,
  pauses: PAUSES,
  longPauses: { firstMs: 2000, maxMs: 300_000 },
  closeMs: 2000,
  timeouts: { connectMs: 15_000, silenceMs: 60_000, noopMs: 15_000, farewellMs: 300 },
};

interface MailboxOptions {
  readonly server: ImapConfig;
  readonly store: MailboxStore;
  readonly taker: MailTaker;
  readonly clock: Clock;
  readonly log: Log;
  /** The rest is for tests. */
  readonly timings?: Partial<Timings>;
  readonly ca?: string;
}

interface MailboxStatus {
  readonly connected: boolean;
  /** When the mailbox was last checked, in milliseconds; null before the first check. */
  readonly lastSeenAt: number | null;
  /** Mails waiting at the last check. */
  readonly backlog: number;
  /** Mails with no recipient here, since the start. */
  readonly unknown: number;
}

/**
 * A mailbox on a server. It gives each mail to a taker at least once, loses none, and moves taken mails out of the mailbox.
 * Start it once and close it once.
 */
export class Mailbox {
  readonly #options: MailboxOptions;
  readonly #timings: Timings;
  readonly #log: MailboxLog;
  readonly #progress: Progress;
  readonly #stopping = new AbortController();
  #connection: ImapConnection | null = null;
  #lastSeenAt: number | null = null;
  #unknown = 0;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: MailboxOptions, timings: Timings, progress: Progress) {
    this.#options = options;
    this.#timings = timings;
    this.#log = new MailboxLog(options.log, options.clock);
    this.#progress = progress;
  }

  /** Doesn't connect yet. */
  static async open(options: MailboxOptions): Promise<Mailbox> {
    const timings = { ...TIMINGS, ...options.timings };
    const cursor = await options.store.cursor(nameOf(options.server));
    return new Mailbox(options, timings, new Progress(cursor, timings.longPauses));
  }

  start(): void {
    this.#work = this.#run(this.#stopping.signal);
  }

  status(): MailboxStatus {
    return {
      connected: this.#connection !== null,
      lastSeenAt: this.#lastSeenAt,
      backlog: this.#progress.backlog,
      unknown: this.#unknown,
    };
  }

  /** Waits briefly for mails in progress. An unfinished mail will be given again. */
  async close(): Promise<void> {
    this.#stopping.abort();
    const timeouts = new AbortController();
    await Promise.race([this.#work, pause(this.#timings.closeMs, timeouts.signal)]);
    timeouts.abort();
    this.#isClosed = true;
    this.#connection?.drop();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      let pauses = this.#timings.pauses;
      try {
        await this.#connected(signal, () => {
          failures = 0;
        });
      } catch (error) {
        failures += 1;
        if (isLoginRefused(error)) pauses = this.#timings.longPauses;
      }
      await pause(backoffMs(Math.max(1, failures), pauses), signal);
    }
  }

  /** Works over one connection until it is lost or the mailbox is closed. */
  async #connected(signal: AbortSignal, onSuccess: () => void): Promise<void> {
    const connection = await this.#connect(signal);
    this.#connection = connection;
    this.#log.connected();
    const { uidValidity, uidNext } = connection;
    if (this.#progress.onConnected(uidValidity, uidNext)) this.#log.begunAnew();
    try {
      await this.#attend(connection, signal, onSuccess);
      await connection.close();
    } catch (error) {
      if (!signal.aborted) this.#log.lost(error);
      throw error;
    } finally {
      this.#connection = null;
      connection.drop();
    }
  }

  async #connect(signal: AbortSignal): Promise<ImapConnection> {
    const { server, ca } = this.#options;
    const { timeouts } = this.#timings;
    const options = { server, timeouts, ...(ca !== undefined && { ca }) };
    try {
      return await ImapConnection.open(options, signal);
    } catch (error) {
      if (!signal.aborted) this.#log.notConnected(error);
      throw error;
    }
  }

  async #attend(
    connection: ImapConnection,
    signal: AbortSignal,
    onSuccess: () => void,
  ): Promise<void> {
    const { pollMs, pauses } = this.#timings;
    const intake = this.#intake(connection);
    for (let rejections = 0; !signal.aborted;) {
      const isAccepted = await intake.pass(signal);
      this.#log.counts();
      onSuccess();
      rejections = isAccepted ? 0 : rejections + 1;
      // While we reject mails, we can't take new ones either.
      if (!isAccepted) await pause(backoffMs(rejections, pauses), signal);
      else await connection.news(Math.min(pollMs, this.#untilDue()), signal);
    }
  }

  #untilDue(): number {
    const { nextDueAt } = this.#progress;
    return nextDueAt === null ? Infinity : Math.max(0, nextDueAt - this.#options.clock.now());
  }

  #intake(connection: ImapConnection): Intake {
    const { taker, clock } = this.#options;
    return new Intake({
      connection,
      progress: this.#progress,
      taker,
      clock,
      onLooked: () => {
        this.#lastSeenAt = clock.now();
      },
      saveCursor: () => this.#saveCursor(),
      onTaken: (outcome) => {
        if (outcome !== 'unknown_recipient') return;
        this.#unknown += 1;
        this.#log.unknown();
      },
      onRejected: (error) => this.#log.rejected(error),
      onImmovable: (folder) => this.#log.immovable(folder),
    });
  }

  /** A cursor that falls behind only makes us look at some mails twice. */
  async #saveCursor(): Promise<void> {
    const { server, store, clock } = this.#options;
    if (this.#isClosed) return;
    try {
      await store.move(nameOf(server), this.#progress.cursor, clock.now());
    } catch (error) {
      this.#log.failed(error);
    }
  }
}

/** The name that the cursor is saved under: without the password, which may change. */
function nameOf({ host, user, mailbox }: ImapConfig): string {
  return `${host}/${user}/${mailbox}`;
}
