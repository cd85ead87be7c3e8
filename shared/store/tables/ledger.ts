import { isoTime } from '../../lib/clock.ts';
import { GENESIS_HASH, sealEntry, type LedgerEntry } from '../../rules/ledger-chain.ts';
import type { Row, SqlValue, Tx } from '../engine/driver.ts';
import { firstSeqSince } from './seq-search.ts';

/** The content of an entry, before the chain adds its position. */
export type LedgerNote = Omit<LedgerEntry, 'seq' | 'at' | 'prev_hash' | 'hash'> & {
  readonly actor: string;
};

interface LedgerHead {
  readonly seq: number;
  readonly at: string;
  readonly hash: string;
}

interface LedgerFilter {
  readonly op?: string | undefined;
  readonly actor?: string | undefined;
  readonly agent?: string | undefined;
  readonly platform?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Only entries before this seq; results are newest first. */
  readonly beforeSeq?: number | undefined;
  readonly limit: number;
}

const COLUMNS =
  'seq, at, op, actor, agent, platform, key_id, subject, request_id, outcome, code, input_digest, result_digest, prev_hash, hash';
// We cache prepared statements by their text; a text built on every call would also be hashed on every call.
const INSERT = `INSERT INTO ledger (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_OWN =
  'INSERT INTO ledger (seq, at, op, actor, subject, outcome, input_digest, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
// All columns: a restore reads copies of earlier releases before it migrates them.
const RANGE = `SELECT * FROM ledger WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`;
/** Most selective first: the query uses the index of the first given column, and the others only filter. */
const FILTERS = ['subject', 'actor', 'op', 'agent', 'platform'] as const;

/** The name under which jobs of a transaction share the newest entry. */
const HEAD = 'ledger.head';

/** The newest entry. */
const LEDGER_HEAD = 'SELECT seq, at, hash FROM ledger ORDER BY seq DESC LIMIT 1';

/** The hash-chained record of all actions. Entries are only ever appended. */
export class LedgerRepository {
  readonly #tx: Tx;
  readonly #projectId: string;

  constructor(tx: Tx, projectId: string) {
    this.#tx = tx;
    this.#projectId = projectId;
  }

  head(): Promise<(LedgerHead & Row) | undefined> {
    return this.#tx.get<LedgerHead & Row>(LEDGER_HEAD);
  }

  /**
   * Links an entry to the newest one and answers its seq. Its time never goes back, so a time range is a seq range.
   */
  async append(note: LedgerNote, now: number): Promise<number> {
    const carried = this.#tx.group?.carried;
    const head = (carried?.get(HEAD) as LedgerHead | undefined) ?? (await this.head());
    const nowIso = isoTime(now);
    const entry = sealEntry(this.#projectId, {
      seq: (head?.seq ?? 0) + 1,
      at: head && head.at > nowIso ? head.at : nowIso,
      prev_hash: head?.hash ?? GENESIS_HASH,
      ...note,
    });
    // The service and sources make no calls, so we don't even bind those columns.
    if (isOwn(entry)) await this.#tx.put(INSERT_OWN, ownColumns(entry));
    else await this.#tx.put(INSERT, allColumns(entry));
    carried?.set(HEAD, { seq: entry.seq, at: entry.at, hash: entry.hash });
    return entry.seq;
  }

  async page(filter: LedgerFilter): Promise<Required<LedgerEntry>[]> {
    const conditions = ['seq < ?'];
    const params: SqlValue[] = [await this.#upperSeq(filter)];
    if (filter.since !== undefined) {
      conditions.push('seq >= ?');
      params.push(await firstSeqSince(this.#tx, 'ledger', 'at', filter.since));
    }
    const given = FILTERS.filter((column) => filter[column] !== undefined);
    for (const [index, column] of given.entries()) {
      // The plus keeps SQLite from using this column's index.
      conditions.push(index === 0 ? `${column} = ?` : `+${column} = ?`);
      params.push(filter[column] ?? null);
    }
    const rows = await this.#tx.all(
      `SELECT ${COLUMNS} FROM ledger WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ?`,
      [...params, filter.limit],
    );
    return rows as unknown as Required<LedgerEntry>[];
  }

  /** Entries from..to in order, so that verification can run in portions. */
  async range(fromSeq: number, toSeq: number, limit: number): Promise<LedgerEntry[]> {
    const rows = await this.#tx.all(RANGE, [fromSeq, toSeq, limit]);
    return rows as unknown as LedgerEntry[];
  }

  async #upperSeq(filter: LedgerFilter): Promise<number> {
    const cursor = filter.beforeSeq ?? Number.MAX_SAFE_INTEGER;
    if (filter.until === undefined) return cursor;
    return Math.min(cursor, await firstSeqSince(this.#tx, 'ledger', 'at', filter.until));
  }
}

/** True if all columns that `INSERT_OWN` leaves out are null. */
function isOwn(entry: LedgerEntry): boolean {
  const { agent, platform, key_id, request_id, code, result_digest } = entry;
  return (agent ?? platform ?? key_id ?? request_id ?? code ?? result_digest) === null;
}

function ownColumns(entry: Required<LedgerEntry>): SqlValue[] {
  const { seq, at, op, actor, subject, outcome, input_digest, prev_hash, hash } = entry;
  return [seq, at, op, actor, subject, outcome, input_digest, prev_hash, hash];
}

function allColumns(entry: Required<LedgerEntry>): SqlValue[] {
  const { seq, at, op, actor, agent, platform, key_id, subject, request_id } = entry;
  const { outcome, code, input_digest, result_digest, prev_hash, hash } = entry;
  const who = [actor, agent, platform, key_id, subject, request_id];
  return [seq, at, op, ...who, outcome, code, input_digest, result_digest, prev_hash, hash];
}
