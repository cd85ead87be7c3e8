import type { ProjectWrites } from '../commit/thread/writers.ts';

const MIB = 1024 * 1024;

/** Reserved on top of what is asked for, so that few downloads wait for the disk. */
const AHEAD_BYTES = 16 * MIB;
/** How long unspent bytes stay reserved; a crash loses at most the bytes reserved in this time. */
const GIVE_BACK_AFTER_MS = 1000;

type InBackground = (work: () => Promise<void>) => void;

/**
 * Counts what links may send in a calendar month. The rows count reserved bytes, never less than what is sent; only
 * this object knows the unspent part. A crash therefore counts unspent bytes as sent, never the reverse.
 */
export class Transfer {
  readonly #writes: ProjectWrites;
  readonly #inBackground: InBackground;
  #month = '';
  /** Bytes reserved this month but not spent. Negative while sent bytes couldn't be counted yet. */
  #left = 0;
  /** Reservations run one at a time, since each spends what is left. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(writes: ProjectWrites, inBackground: InBackground) {
    this.#writes = writes;
    this.#inBackground = inBackground;
  }

  /** Whether reserved bytes will go back to the rows soon. */
  get isBusy(): boolean {
    return this.#left > 0 || this.#waiting > 0;
  }

  /** Returns the bytes that the month's row counts but nobody has sent. */
  unspent(month: string): number {
    return month === this.#month ? this.#left : 0;
  }

  /** Counts bytes about to be sent. Throws QUOTA_EXCEEDED if the month has no room for all of them. */
  async take(month: string, bytes: number): Promise<void> {
    if (this.#waiting === 0 && this.unspent(month) >= bytes) this.#left -= bytes;
    else await this.#inTurn(() => this.#reserve(month, bytes));
    this.#giveBackSoon();
  }

  /** Returns bytes that were counted but not sent. */
  giveBack(month: string, bytes: number): void {
    if (bytes === 0 || this.#closed) return;
    if (month === this.#month) {
      this.#left += bytes;
      this.#giveBackSoon();
    } else {
      this.#inBackground(() => this.#refund(month, bytes));
    }
  }

  /** Returns all unspent bytes to the rows. Bytes returned after this count as sent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#inTurn(() => this.#empty());
  }

  async #reserve(month: string, bytes: number): Promise<void> {
    if (month !== this.#month) await this.#begin(month);
    // Others may add to it in the meantime, but nobody takes from it.
    const unspent = this.#left;
    if (unspent < bytes) {
      const wanted = { month, bytes: bytes - unspent, ahead: AHEAD_BYTES, unspent };
      const granted = await this.#writes.run('reserveTransfer', wanted);
      this.#left += granted;
    }
    this.#left -= bytes;
  }

  #giveBackSoon(): void {
    if (this.#timer || this.#closed || this.#left <= 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#inBackground(() => this.#inTurn(() => this.#empty()));
    }, GIVE_BACK_AFTER_MS).unref();
  }

  /** Bytes returned to another month in the meantime don't count towards what is left here. */
  async #begin(month: string): Promise<void> {
    const emptied = this.#empty();
    this.#month = month;
    await emptied;
  }

  async #empty(): Promise<void> {
    const month = this.#month;
    const bytes = this.#left;
    if (bytes <= 0) return;
    this.#left = 0;
    await this.#refund(month, bytes);
  }

  async #refund(month: string, bytes: number): Promise<void> {
    await this.#writes.run('refundTransfer', { month, bytes });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const turn = this.#turn.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
