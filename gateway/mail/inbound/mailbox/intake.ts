import type { Clock } from '../../../../shared/lib/clock.ts';
import type { MailOutcome } from '../../../lib/metrics.ts';
import { isRefusal } from '../../../projects/limits/ingress-guard.ts';
import type { MailTaker } from '../mail-taker.ts';
import type { FetchedMail, ImapConnection, ListedMail } from './imap-connection.ts';
import type { Progress } from './progress.ts';

/** The folders for mails that were taken, and for those with no recipient here. */
const FOLDERS: Readonly<Record<MailOutcome, string>> = {
  delivered: 'svc-done',
  duplicate: 'svc-done',
  unknown_recipient: 'svc-unknown',
};

/** Mails per command: several save round trips, few let the first one start soon. */
const LISTED_AT_ONCE = 200;
const FETCHED_AT_ONCE = 4;
const FETCHED_AT_ONCE_BYTES = 8 * 1024 * 1024;
/** Limits on the mails in memory, unless a single mail is larger. */
const IN_FLIGHT_MAX = 8;
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;
/** How many taken mails are put away together while others come in. */
const PUT_AWAY_AT = 64;

interface IntakeDeps {
  readonly connection: ImapConnection;
  readonly progress: Progress;
  readonly taker: MailTaker;
  readonly clock: Clock;
  readonly onLooked: () => void;
  readonly saveCursor: () => Promise<void>;
  readonly onTaken: (outcome: MailOutcome) => void;
  readonly onRejected: (error: unknown) => void;
  /** Called once per folder. */
  readonly onImmovable: (folder: string) => void;
}

/** Takes the mails of a mailbox over one connection. */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #inFlight = new Set<Promise<void>>();
  #inFlightBytes = 0;
  readonly #immovable = new Set<string>();
  #isRejected = false;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /**
   * Lists the mailbox once, and takes its mails in order of arrival. Stops early and returns false if a mail is rejected
   * that isn't set aside yet: the next one would be rejected too, such as on a full disk or while the service stops.
   */
  async pass(signal: AbortSignal): Promise<boolean> {
    const { connection, progress, clock, onLooked } = this.#deps;
    this.#isRejected = false;
    progress.list(await connection.beyond(progress.cursor.uid));
    onLooked();
    const due = progress.due(clock.now());
    try {
      for (const batch of this.#inBatches(due)) {
        if (this.#isOver(signal)) break;
        await this.#takeAll(batch, signal);
      }
    } finally {
      // Also after losing the connection: a mail must not come again while it's being taken.
      await Promise.all(this.#inFlight);
    }
    await this.#putAway();
    return !this.#isRejected;
  }

  #isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.#isRejected;
  }

  /** A mail that was set aside is its own batch: if it breaks the connection, no other mail suffers. */
  #inBatches(uids: readonly number[]): number[][] {
    const { progress } = this.#deps;
    const inTurn = uids.filter((uid) => !progress.isAside(uid));
    const aside = uids.filter((uid) => progress.isAside(uid)).map((uid) => [uid]);
    const count = Math.ceil(inTurn.length / LISTED_AT_ONCE);
    const batches = Array.from({ length: count }, (_, index) =>
      inTurn.slice(index * LISTED_AT_ONCE, (index + 1) * LISTED_AT_ONCE),
    );
    return [...batches, ...aside];
  }

  async #takeAll(uids: readonly number[], signal: AbortSignal): Promise<void> {
    const { progress } = this.#deps;
    for (const group of inGroups(await this.#list(uids))) {
      await this.#room(group);
      if (this.#isOver(signal)) return;
      await this.#fetch(group);
      if (progress.taken.size >= PUT_AWAY_AT) await this.#putAway();
    }
  }

  /** In the order of `uids`. */
  async #list(uids: readonly number[]): Promise<ListedMail[]> {
    const { connection, progress } = this.#deps;
    const found = new Map<number, ListedMail>();
    await this.#blame(uids, found, () =>
      connection.list(uids, (mail) => found.set(mail.uid, mail)),
    );
    const there = uids.flatMap((uid) => found.get(uid) ?? []);
    // Marked when they couldn't be moved, and listed again because an earlier mail blocks the cursor.
    progress.putAway(there.filter(({ isMarked }) => isMarked).map(({ uid }) => uid));
    return there.filter(({ isMarked }) => !isMarked);
  }

  async #fetch(group: readonly ListedMail[]): Promise<void> {
    const { connection } = this.#deps;
    const sizes = new Map(group.map(({ uid, sizeBytes }) => [uid, sizeBytes]));
    const found = new Map<number, FetchedMail>();
    await this.#blame([...sizes.keys()], found, () =>
      connection.fetch(group, (mail) => {
        found.set(mail.uid, mail);
        this.#take(mail, sizes.get(mail.uid) ?? mail.raw.length);
      }),
    );
  }

  /**
   * A mail that breaks the server's answer every time must not stop the mailbox: we blame the first one that didn't arrive.
   * Others that didn't arrive are gone, or are tried again.
   */
  async #blame(
    uids: readonly number[],
    found: ReadonlyMap<number, unknown>,
    ask: () => Promise<void>,
  ): Promise<void> {
    const { progress, clock } = this.#deps;
    const missing = (): number[] => uids.filter((uid) => !found.has(uid));
    try {
      await ask();
    } catch (error) {
      for (const uid of missing().slice(0, 1)) progress.fail(uid, clock.now());
      throw error;
    }
    for (const uid of missing()) progress.fail(uid, clock.now());
  }

  async #room(group: readonly ListedMail[]): Promise<void> {
    const bytes = sizeOf(group);
    while (
      this.#inFlight.size > 0 &&
      (this.#inFlight.size + group.length > IN_FLIGHT_MAX ||
        this.#inFlightBytes + bytes > IN_FLIGHT_MAX_BYTES)
    ) {
      await Promise.race(this.#inFlight);
    }
  }

  #take(mail: FetchedMail, listedBytes: number): void {
    const bytes = mail.raw.length;
    const taking: Promise<void> = this.#give(mail, listedBytes).finally(() => {
      this.#inFlight.delete(taking);
      this.#inFlightBytes -= bytes;
    });
    this.#inFlight.add(taking);
    this.#inFlightBytes += bytes;
  }

  async #give({ uid, raw, whole }: FetchedMail, listedBytes: number): Promise<void> {
    const { progress, taker, clock, onTaken, onRejected } = this.#deps;
    try {
      const sizeBytes = whole ? raw.length : Math.max(listedBytes, raw.length);
      const outcome = await taker.take({ raw, whole, sizeBytes });
      progress.take(uid, outcome);
      onTaken(outcome);
    } catch (error) {
      if (isRefusal(error)) {
        progress.setAside(uid, clock.now() + Number(error.details?.['retry_after']) * 1000);
      } else {
        this.#isRejected ||= !progress.isAside(uid);
        progress.fail(uid, clock.now());
      }
      onRejected(error);
    }
  }

  /** Moves taken mails out of the mailbox, and the cursor past them. */
  async #putAway(): Promise<void> {
    const { connection, progress, saveCursor, onImmovable } = this.#deps;
    for (const folder of new Set(Object.values(FOLDERS))) {
      const uids = [...progress.taken].filter(([, outcome]) => FOLDERS[outcome] === folder);
      const range = uids.map(([uid]) => uid);
      if (range.length === 0) continue;
      if (!this.#immovable.has(folder) && !(await connection.move(range, folder))) {
        this.#immovable.add(folder);
        onImmovable(folder);
      }
      if (this.#immovable.has(folder)) await connection.mark(range);
      progress.putAway(range);
    }
    if (progress.advance()) await saveCursor();
  }
}

function inGroups(mails: readonly ListedMail[]): ListedMail[][] {
  const groups: ListedMail[][] = [];
  let group: ListedMail[] = [];
  for (const mail of mails) {
    const isFull =
      group.length >= FETCHED_AT_ONCE || sizeOf([...group, mail]) > FETCHED_AT_ONCE_BYTES;
    if (isFull && group.length > 0) {
      groups.push(group);
      group = [];
    }
    group.push(mail);
  }
  return group.length > 0 ? [...groups, group] : groups;
}

function sizeOf(mails: readonly ListedMail[]): number {
  return mails.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
