import type { Logger } from 'pino';
import type { Clock } from '../../../../shared/lib/clock.ts';
import { errorCode } from '../../../../shared/lib/guards.ts';
import { LostConnectionError } from './imap-connection.ts';

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

const COUNTS_EVERY_MS = 60_000;
const CODE = /^[\w-]{1,40}$/;

/** The mailbox's log for operators: never a password, an address or mail content. */
export class MailboxLog {
  readonly #log: Log;
  readonly #clock: Clock;
  /** Problems not to log again until the mailbox is connected. */
  readonly #told = new Set<string>();
  readonly #unknown = { count: 0, toldAt: Number.NEGATIVE_INFINITY };
  readonly #rejected = { count: 0, toldAt: Number.NEGATIVE_INFINITY };
  #rejection: unknown = null;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  connected(): void {
    this.#told.clear();
    this.#log.info('the mailbox is connected');
  }

  lost(error: unknown): void {
    // A bug of ours is logged in full; it contains nothing from outside.
    const mistake = error instanceof TypeError ? { err: error } : {};
    this.#log.warn({ reason: reasonOf(error), ...mistake }, 'the mailbox lost its connection');
  }

  notConnected(error: unknown): void {
    const isRefused = isLoginRefused(error);
    const key = isRefused ? 'refused' : 'unreachable';
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const reason = reasonOf(error);
    if (isRefused) {
      this.#log.error(
        { reason },
        'the mailbox refuses the login: check user and password in SVC_IMAP_URL',
      );
    } else if (isMissing(error)) {
      this.#log.error({ reason }, 'there is no such mailbox: check the path in SVC_IMAP_URL');
    } else {
      this.#log.warn({ reason }, "can't reach the mailbox; trying again");
    }
  }

  begunAnew(): void {
    this.#log.warn('the server renumbered the mails in the mailbox, so all are read again');
  }

  immovable(folder: string): void {
    this.#log.warn(
      { folder },
      "mails can't be moved to this folder; they stay where they are, marked as read",
    );
  }

  failed(error: unknown): void {
    this.#log.error({ err: error }, "couldn't save how far the mailbox has been read");
  }

  unknown(): void {
    this.#unknown.count += 1;
  }

  rejected(error: unknown): void {
    this.#rejected.count += 1;
    this.#rejection = error;
  }

  /** Logs each count at most once a minute. */
  counts(): void {
    this.#count(this.#unknown, (count) =>
      this.#log.warn({ count }, 'mails were for no project that takes mail: see svc-unknown'),
    );
    this.#count(this.#rejected, (count) =>
      this.#log.warn(
        { count, err: this.#rejection },
        'mails could not be stored; they stay where they are and are tried again',
      ),
    );
  }

  #count(tally: { count: number; toldAt: number }, tell: (count: number) => void): void {
    const now = this.#clock.now();
    if (tally.count === 0 || now - tally.toldAt < COUNTS_EVERY_MS) return;
    tell(tally.count);
    tally.count = 0;
    tally.toldAt = now;
  }
}

/** The user or the password is wrong. False if the server only can't check them right now (RFC 5530). */
export function isLoginRefused(error: unknown): boolean {
  const { authenticationFailed, serverResponseCode } = facts(error);
  return authenticationFailed === true && serverResponseCode !== 'UNAVAILABLE';
}

function isMissing(error: unknown): boolean {
  return facts(error).mailboxMissing === true;
}

/** Never the server's own text, which may repeat an address. */
function reasonOf(error: unknown): string {
  if (error instanceof LostConnectionError) return error.message;
  const { serverResponseCode, responseStatus, tlsFailed } = facts(error);
  const known = [errorCode(error), serverResponseCode, responseStatus, tlsFailed && 'NO_TLS'];
  return known.find((one) => typeof one === 'string' && CODE.test(one)) || 'unknown';
}

interface ImapFacts {
  readonly authenticationFailed?: boolean;
  readonly mailboxMissing?: boolean;
  readonly tlsFailed?: boolean;
  readonly serverResponseCode?: string;
  readonly responseStatus?: string;
}

/** What the library adds to an error. */
function facts(error: unknown): ImapFacts {
  return error instanceof Error ? (error as ImapFacts) : {};
}
