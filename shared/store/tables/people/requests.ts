import type { RequestKind } from '../../../rules/requests/request-state.ts';
import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, SqlValue, Tx } from '../../engine/driver.ts';
import type { SumColumn } from '../disk/kv.ts';

export interface RequestRow extends Row {
  id: string;
  kind: string;
  status: string;
  key_id: string;
  /** The agent's own name for itself. */
  agent: string | null;
  platform: string;
  /** Exactly what the agent asks for, as canonical JSON. */
  subject: string;
  action: string | null;
  summary: string;
  details: string | null;
  risk: string | null;
  amount: number | null;
  question: string | null;
  /** A JSON array of texts. */
  options: string;
  /** What an approval applies, as JSON. */
  proposal: string | null;
  decision: string | null;
  comment: string | null;
  hint: string | null;
  /** `policy:<rule>` or `channel:<chn_id>`. */
  decided_by: string | null;
  /** A JSON array of channel ids. */
  approvers: string;
  policy_version: number;
  rule: string | null;
  state_ref: string | null;
  callback_url: string | null;
  created_at: string;
  /** Unix time in milliseconds, like the two below. */
  expires_at: number;
  decided_at: number | null;
  redeemed_at: number | null;
  /** What used it: an event, or a key. */
  spent_by: string | null;
  /** The event the question is about. */
  event_id: string | null;
  /** The exact values that were shown, as canonical JSON. */
  bind: string | null;
  /** Tells two questions of an event apart. */
  identity: string | null;
  /** How many people must approve it. */
  approvals: number;
  /** What it belongs to, such as an agent's session, in the agent's words. */
  thread: string | null;
  /** Until when the answer holds for others in the thread. Unix time in milliseconds. */
  lasts_until: number | null;
}

const NAMES = [
  'id',
  'kind',
  'status',
  'key_id',
  'agent',
  'platform',
  'subject',
  'action',
  'summary',
  'details',
  'risk',
  'amount',
  'question',
  'options',
  'proposal',
  'decision',
  'comment',
  'hint',
  'decided_by',
  'approvers',
  'policy_version',
  'rule',
  'state_ref',
  'callback_url',
  'created_at',
  'expires_at',
  'decided_at',
  'redeemed_at',
  'spent_by',
  'event_id',
  'bind',
  'identity',
  'approvals',
] as const;
/** A sum covers these only where one of them is set, so that sums of earlier releases hold. */
const LATER_NAMES = ['thread', 'lasts_until'] as const;
const ALL_NAMES = [...NAMES, ...LATER_NAMES];
export const REQUEST_COLUMNS = `${ALL_NAMES.join(', ')}, sum`;
const COLUMNS = REQUEST_COLUMNS;
const INSERT = `INSERT INTO request (${COLUMNS}) VALUES (${ALL_NAMES.map(() => '?').join(', ')}, ?)`;

/** A request as it's stored. */
export type StoredRequest = RequestRow & SumColumn;

/** The fields that a request's sum covers: all that are set, and those that were there from the start. */
export function requestFields(row: RequestRow) {
  const hasLater = LATER_NAMES.some((name) => (row[name] ?? null) !== null);
  return (hasLater ? ALL_NAMES : NAMES).map((name) => row[name] ?? null);
}

export function isWhole(row: StoredRequest): boolean {
  return isSound(row.sum, requestFields(row));
}

interface PageLimits {
  readonly beforeId?: string | undefined;
  readonly limit: number;
}

/** Reads a page that leaves out damaged rows, so that the others can be read, and goes on in place of them. */
export async function wholePage(
  { beforeId, limit }: PageLimits,
  read: (limits: PageLimits) => Promise<StoredRequest[]>,
): Promise<RequestRow[]> {
  const found: RequestRow[] = [];
  for (let before = beforeId; ;) {
    const count = limit - found.length;
    const rows = await read({ beforeId: before, limit: count });
    found.push(...rows.filter(isWhole));
    if (found.length === limit || rows.length < count) return found;
    before = rows.at(-1)?.id;
  }
}

const OVERDUE = `SELECT ${COLUMNS} FROM request WHERE status = 'pending' AND expires_at <= ? ORDER BY expires_at LIMIT ?`;

/** An approval that ended without the policy. `ended_at` is when it was decided or expired. */
export type EndedApprovalRow = Pick<
  RequestRow,
  'id' | 'amount' | 'risk' | 'status' | 'hint' | 'decided_by' | 'approvals' | 'bind'
> & { action: string; ended_at: number };

const ENDED_COLUMNS =
  'id, action, amount, risk, status, hint, decided_by, approvals, bind, coalesce(decided_at, expires_at) AS ended_at';

interface PageQuery extends PageLimits {
  readonly status: string | undefined;
  readonly now: number;
}

/** How a request ended, for its row. */
export interface RequestEnd {
  readonly status: string;
  readonly decision: string | null;
  readonly comment: string | null;
  readonly hint: string | null;
  readonly decidedBy: string | null;
  readonly lastsUntil: number | null;
  readonly at: number;
}

/**
 * Requests that wait, or waited, for a person. A row that isn't as it was written is answered with a `RowDamage`, and
 * lists go without it.
 */
export class RequestRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(id: string): Promise<RequestRow | undefined> {
    return this.#one(`SELECT ${COLUMNS} FROM request WHERE id = ?`, [id]);
  }

  /** The pending request of a key with the same subject. */
  findSame(
    same: { readonly keyId: string; readonly kind: RequestKind; readonly subject: string },
    now: number,
  ): Promise<RequestRow | undefined> {
    return this.#one(
      `SELECT ${COLUMNS} FROM request WHERE key_id = ? AND kind = ? AND subject = ? AND status = 'pending' AND expires_at > ?
       ORDER BY id DESC LIMIT 1`,
      [same.keyId, same.kind, same.subject, now],
    );
  }

  /** The newest question of an event with this identity, however it stands. */
  findQuestion(eventId: string, identity: string): Promise<RequestRow | undefined> {
    return this.#one(
      `SELECT ${COLUMNS} FROM request WHERE event_id = ? AND identity = ? ORDER BY id DESC LIMIT 1`,
      [eventId, identity],
    );
  }

  /** The id of the event that tells how a request ended; null where there's none, or an earlier release wrote it. */
  async outcomeOf(id: string): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>(
      'SELECT id FROM event WHERE source_id IS NULL AND provider_id = ?',
      [id],
    );
    return row?.id ?? null;
  }

  /** The open questions of an event, oldest first. */
  pendingOf(eventId: string, now: number): Promise<RequestRow[]> {
    return this.#each(
      `SELECT ${COLUMNS} FROM request WHERE event_id = ? AND status = 'pending' AND expires_at > ? ORDER BY id`,
      [eventId, now],
    );
  }

  /** The questions of an event that a person decided, newest first. */
  decidedOf(eventId: string): Promise<RequestRow[]> {
    return this.#each(
      `SELECT ${COLUMNS} FROM request WHERE event_id = ? AND decided_by LIKE 'channel:%' ORDER BY id DESC`,
      [eventId],
    );
  }

  /** The newest questions of an event. */
  ofEvent(eventId: string, limit: number): Promise<RequestRow[]> {
    return this.#each(
      `SELECT ${COLUMNS} FROM request WHERE event_id = ? ORDER BY id DESC LIMIT ?`,
      [eventId, limit],
    );
  }

  /** How many are pending in the project, and how many of them a key asked. */
  async countPending(now: number, keyId: string): Promise<{ all: number; ofKey: number }> {
    const row = await this.#tx.get(
      `SELECT count(*) AS "all", count(*) FILTER (WHERE key_id = ?) AS of_key FROM request
       WHERE status = 'pending' AND expires_at > ?`,
      [keyId, now],
    );
    return { all: Number(row?.['all'] ?? 0), ofKey: Number(row?.['of_key'] ?? 0) };
  }

  /** All pending requests, oldest first; there are at most PENDING_REQUESTS_MAX. */
  pending(now: number): Promise<RequestRow[]> {
    return this.#each(
      `SELECT ${COLUMNS} FROM request WHERE status = 'pending' AND expires_at > ? ORDER BY id`,
      [now],
    );
  }

  /** Newest first, after a given id. */
  page(wanted: PageQuery): Promise<RequestRow[]> {
    return wholePage(wanted, (limits) => this.#page({ ...wanted, ...limits }));
  }

  #page({ status, beforeId, limit, now }: PageQuery): Promise<StoredRequest[]> {
    const conditions: string[] = [];
    const params: SqlValue[] = [];
    if (beforeId !== undefined) {
      conditions.push('id < ?');
      params.push(beforeId);
    }
    // The row of an expired request may still say pending.
    if (status === 'pending' || status === 'expired') {
      conditions.push(
        status === 'pending'
          ? "status = 'pending' AND expires_at > ?"
          : "(status = 'expired' OR (status = 'pending' AND expires_at <= ?))",
      );
      params.push(now);
    } else if (status !== undefined) {
      conditions.push('status = ?');
      params.push(status);
    }
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    return this.#tx.all<StoredRequest>(
      `SELECT ${COLUMNS} FROM request ${where} ORDER BY id DESC LIMIT ?`,
      [...params, limit],
    );
  }

  /**
   * Approvals that people decided, or that expired, since a time, newest first. Reads only the newest `scan` requests
   * of any kind, by primary key.
   */
  endedApprovals(wanted: {
    readonly since: number;
    readonly now: number;
    readonly scan: number;
  }): Promise<EndedApprovalRow[]> {
    const { since, now, scan } = wanted;
    return this.#tx.all<EndedApprovalRow>(
      `SELECT ${ENDED_COLUMNS} FROM (SELECT * FROM request ORDER BY id DESC LIMIT ?)
       WHERE kind = 'approval' AND (status <> 'pending' OR expires_at <= ?) AND ended_at >= ?
         AND (decided_by IS NULL OR decided_by LIKE 'channel:%')
       ORDER BY ended_at DESC, id DESC`,
      [scan, now, since],
    );
  }

  /** When the newest request was made after which there are this many; null if there are fewer. */
  async askedBefore(newer: number): Promise<string | null> {
    const row = await this.#tx.get(
      'SELECT created_at FROM request ORDER BY id DESC LIMIT 1 OFFSET ?',
      [newer],
    );
    return (row?.['created_at'] as string | undefined) ?? null;
  }

  async insert(row: RequestRow): Promise<void> {
    const values = ALL_NAMES.map((name) => row[name] ?? null);
    await this.#tx.put(INSERT, [...values, contentSum(requestFields(row))]);
  }

  /** Only the first decision counts: returns false if there was one already or the request has expired. */
  async end(id: string, end: RequestEnd): Promise<boolean> {
    const { at, decidedBy, lastsUntil, ...rest } = end;
    const row = await this.find(id);
    if (row?.status !== 'pending' || (row.expires_at <= at && end.status !== 'expired'))
      return false;
    const decided = { decided_by: decidedBy, decided_at: at, lasts_until: lastsUntil };
    await this.#change(row, { ...rest, ...decided });
    return true;
  }

  async setHint(id: string, hint: string): Promise<void> {
    const row = await this.find(id);
    if (row) await this.#change(row, { hint });
  }

  /** From `now` on the answer holds for its own request alone. */
  async endLasting(id: string, now: number): Promise<void> {
    const row = await this.find(id);
    if (row) await this.#change(row, { lasts_until: now });
  }

  async setApprovers(id: string, approvers: readonly string[]): Promise<void> {
    const row = await this.find(id);
    if (row) await this.#change(row, { approvers: JSON.stringify(approvers) });
  }

  /** Uses an approval; false if it was already used. */
  async redeem(id: string, spentBy: string, now: number): Promise<boolean> {
    const row = await this.find(id);
    if (row?.redeemed_at !== null) return false;
    await this.#change(row, { redeemed_at: now, spent_by: spentBy });
    return true;
  }

  async #change(row: RequestRow, changes: Row): Promise<void> {
    const names = Object.keys(changes);
    const sum = contentSum(requestFields({ ...row, ...changes }));
    await this.#tx.put(
      `UPDATE request SET ${names.map((name) => `${name} = ?`).join(', ')}, sum = ? WHERE id = ?`,
      [...names.map((name) => changes[name] ?? null), sum, row.id],
    );
  }

  /** Expired requests whose rows still say pending. */
  overdue(now: number, limit: number): Promise<RequestRow[]> {
    return this.#each(OVERDUE, [now, limit]);
  }

  /** Ends overdue requests that are damaged, so that they don't stay due; they stay damaged. Returns how many. */
  async endDamaged(now: number, limit: number): Promise<number> {
    const rows = await this.#tx.all<StoredRequest>(OVERDUE, [now, limit]);
    const damaged = rows.filter((row) => !isWhole(row));
    for (const { id } of damaged) {
      await this.#tx.put("UPDATE request SET status = 'expired' WHERE id = ?", [id]);
    }
    return damaged.length;
  }

  async #one(sql: string, params: readonly SqlValue[]): Promise<RequestRow | undefined> {
    const row = await this.#tx.get<StoredRequest>(sql, params);
    if (row && !isWhole(row)) throw new RowDamage(`request ${row.id}`);
    return row;
  }

  async #each(sql: string, params: readonly SqlValue[]): Promise<RequestRow[]> {
    return (await this.#tx.all<StoredRequest>(sql, params)).filter(isWhole);
  }

  /** When the next pending request expires; null if none is pending. */
  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get(
      "SELECT min(expires_at) AS due FROM request WHERE status = 'pending'",
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }
}
