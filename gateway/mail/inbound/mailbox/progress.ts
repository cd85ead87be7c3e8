import type { MailboxCursor } from '../../../store/control/mailboxes.ts';
import { backoffMs, type Pauses } from '../../../lib/backoff.ts';
import type { MailOutcome } from '../../../lib/metrics.ts';

/** How often a mail is tried in its turn. After that it is set aside, so that it doesn't block others. */
const TRIES_IN_TURN = 3;

interface FailedMail {
  readonly tries: number;
  /** In milliseconds; a mail still tried in its turn is due at once. */
  readonly dueAt: number;
}

/**
 * The state of the mails in one mailbox. A mail is open, then taken (durable with us), then put away (and no longer looked
 * at). The cursor passes only mails that are put away: if we're cut off in between, the mail is given again, and the taker
 * recognizes it.
 */
export class Progress {
  #cursor: MailboxCursor;
  /** In ascending order. */
  readonly #open = new Set<number>();
  readonly #taken = new Map<number, MailOutcome>();
  /** Beyond the cursor. */
  readonly #putAway = new Set<number>();
  readonly #failed = new Map<number, FailedMail>();
  readonly #pauses: Pauses;

  constructor(cursor: MailboxCursor | undefined, pauses: Pauses) {
    this.#cursor = cursor ?? { uidValidity: 0, uid: 0 };
    this.#pauses = pauses;
  }

  get cursor(): MailboxCursor {
    return this.#cursor;
  }

  /** Mails not taken yet. */
  get backlog(): number {
    return this.#open.size;
  }

  /** Mails taken but not put away yet. */
  get taken(): ReadonlyMap<number, MailOutcome> {
    return this.#taken;
  }

  /** When the next mail that was set aside is due, in milliseconds; null without one. */
  get nextDueAt(): number | null {
    const times = [...this.#failed.values()].filter(isAside).map(({ dueAt }) => dueAt);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /**
   * Starts over if UIDs have changed their meaning, or if the next one isn't above the cursor, as in a restored mailbox.
   * True if that dropped earlier progress.
   */
  onConnected(uidValidity: number, uidNext = Number.POSITIVE_INFINITY): boolean {
    const known = this.#cursor;
    if (known.uidValidity === uidValidity && known.uid < uidNext) return false;
    this.#cursor = { uidValidity, uid: 0 };
    for (const each of [this.#open, this.#taken, this.#putAway, this.#failed]) each.clear();
    return known.uidValidity !== 0;
  }

  /** Takes all UIDs above the cursor, in ascending order. Mails no longer listed need no more work. */
  list(uids: readonly number[]): void {
    this.#open.clear();
    for (const uid of uids) {
      if (!this.#taken.has(uid) && !this.#putAway.has(uid)) this.#open.add(uid);
    }
    for (const uid of this.#failed.keys()) if (!this.#open.has(uid)) this.#failed.delete(uid);
  }

  /** The mails to try now, in order of arrival; those set aside come last. */
  due(now: number): number[] {
    const open = [...this.#open];
    const aside = open.filter((uid) => this.isAside(uid));
    const overdue = aside.filter((uid) => (this.#failed.get(uid)?.dueAt ?? 0) <= now);
    return [...open.filter((uid) => !this.isAside(uid)), ...overdue];
  }

  isAside(uid: number): boolean {
    const failed = this.#failed.get(uid);
    return failed !== undefined && isAside(failed);
  }

  take(uid: number, outcome: MailOutcome): void {
    this.#open.delete(uid);
    this.#failed.delete(uid);
    this.#taken.set(uid, outcome);
  }

  fail(uid: number, now: number): void {
    const tries = (this.#failed.get(uid)?.tries ?? 0) + 1;
    const dueAt = tries < TRIES_IN_TURN ? 0 : now + backoffMs(tries, this.#pauses);
    this.#failed.set(uid, { tries, dueAt });
  }

  /** Sets a mail aside for this long: its project can't take it now, and others can take theirs. */
  setAside(uid: number, dueAt: number): void {
    this.#failed.set(uid, { tries: TRIES_IN_TURN, dueAt });
  }

  /** Also for mails found already put away. */
  putAway(uids: readonly number[]): void {
    for (const uid of uids) {
      this.#open.delete(uid);
      this.#taken.delete(uid);
      this.#putAway.add(uid);
    }
  }

  /** Moves the cursor as far as possible. True if it moved. */
  advance(): boolean {
    const { uidValidity, uid: before } = this.#cursor;
    const [firstOpen = Infinity] = this.#open;
    const inTheWay = Math.min(firstOpen, ...this.#taken.keys());
    let uid = before;
    for (const each of this.#putAway) {
      if (each > inTheWay) continue;
      this.#putAway.delete(each);
      uid = Math.max(uid, each);
    }
    this.#cursor = { uidValidity, uid };
    return uid > before;
  }
}

function isAside({ tries }: FailedMail): boolean {
  return tries >= TRIES_IN_TURN;
}
