import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';

/** How long other gateways leave a row alone that this one has claimed. */
const CLAIM_MS = 120_000;
/** One query reads this many rows more than there are free slots, because a query per row would cost more than the rest. */
const AHEAD = 64;

interface DueRow {
  readonly id: string;
  readonly due_at: number | null;
}

export interface RowClaim {
  readonly now: number;
  readonly until: number;
  readonly limit: number;
}

/** A queue of rows that fall due. */
interface RowQueue<T> {
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  /** Due rows in the order to send them. */
  readonly due: (store: Repositories, now: number, limit: number) => Promise<T[]>;
  /** Claims due rows, so that no other gateway sends them before `until`. */
  readonly claim: (writes: ProjectWrites, claim: RowClaim) => Promise<T[]>;
}

interface SendState {
  readonly now: number;
  /** How many rows are sent at once. */
  readonly slots: number;
  /** What is being sent; it changes meanwhile. */
  readonly underWay: ReadonlySet<string>;
}

interface NextRows<T> {
  readonly rows: T[];
  /** Another look would find more at once. */
  readonly isMore: boolean;
}

/** Finds the rows of a queue that this gateway sends next. */
export interface DueRows {
  next<T extends DueRow>(queue: RowQueue<T>, state: SendState): Promise<NextRows<T>>;
  /** Until when only this gateway sends the row; null if no other could. */
  claimedUntil(row: DueRow): number | null;
}

/** For a gateway that sends alone. */
export const OWN_ROWS: DueRows = {
  async next({ store, due }, { now, slots, underWay }) {
    // Compare with the state before the query: a row whose send ends meanwhile still looks due in its result.
    const busy = new Set(underWay);
    const rows = await store.read((one) => due(one, now, slots + busy.size + AHEAD));
    return { rows: rows.filter(({ id }) => !busy.has(id)), isMore: false };
  },
  claimedUntil: () => null,
};

/** For one of several. It claims only as many as can start now, because claimed rows must not wait. */
export const CLAIMED_ROWS: DueRows = {
  async next({ store, writes, due, claim }, { now, slots, underWay }) {
    const limit = slots - underWay.size;
    if (limit === 0 || (await store.read((one) => due(one, now, 1))).length === 0) {
      return { rows: [], isMore: false };
    }
    const claimed = await claim(writes, { now, until: now + CLAIM_MS, limit });
    // A claim may lapse while its row is still being sent.
    const rows = claimed.filter(({ id }) => !underWay.has(id));
    return { rows, isMore: claimed.length === limit };
  },
  claimedUntil: ({ due_at }) => due_at,
};
