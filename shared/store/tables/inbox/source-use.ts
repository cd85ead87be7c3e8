import { EVENT_ROWS_BYTES } from '../../../lib/limits.ts';
import { TEN_MINUTES_MS, windowOf, type IngressUse } from '../../../rules/inbox/ingress-limit.ts';
import type { Query, Row, SqlValue, Tx } from '../../engine/driver.ts';

/** What a source stores and sends; see the migration that made the table. */
interface SourceUseRow extends Row {
  source_id: string;
  stored_bytes: number;
  minute: number;
  minute_events: number;
  ten_minutes: number;
  ten_minutes_bytes: number;
  told_at: number;
}

/** Rows that jobs of a transaction share, with the sum of what all sources store. */
interface SharedUse {
  readonly rows: Map<string, SourceUseRow>;
  total: number;
}

/** The row with this id counts nothing: it's for what people are told about the project. */
const PROJECT = '';
/** The name under which jobs of a transaction share what they read. */
const SHARED = 'source.use';
const MINUTES_OF_HOUR = 60;
const COLUMNS =
  'source_id, stored_bytes, minute, minute_events, ten_minutes, ten_minutes_bytes, told_at';
/** One row, whether or not there is one of this source. */
const FIND = `SELECT ${COLUMNS}, (SELECT coalesce(sum(stored_bytes), 0) FROM source_use) AS total
  FROM (SELECT 1) LEFT JOIN source_use ON source_id = ?`;
const SAVE = `INSERT OR REPLACE INTO source_use (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** What an event with these parts counts. A purge subtracts the same: see `FREED`. */
export function storedBytes(event: {
  readonly sizeBytes: number;
  readonly headers: string;
  readonly files?: readonly { readonly size_bytes: number }[];
}): number {
  const files = (event.files ?? []).reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  return event.sizeBytes + Buffer.byteLength(event.headers) + EVENT_ROWS_BYTES + files;
}

const FREED = `SELECT e.source_id, sum(e.size_bytes + length(CAST(c.headers AS BLOB)) + ${EVENT_ROWS_BYTES} +
    coalesce((SELECT sum(f.size_bytes) FROM event_file f WHERE f.event_seq = e.seq), 0)) AS bytes
  FROM event e JOIN event_content c ON c.seq = e.seq
  WHERE e.seq BETWEEN ?1 AND ?2 AND e.source_id IS NOT NULL AND c.kind IS NOT NULL
    AND e.seq NOT IN (SELECT seq FROM park WHERE seq BETWEEN ?1 AND ?2)
  GROUP BY e.source_id`;

/** The query that `of` runs. */
function sourceUseQuery(sourceId: string): Query {
  return { sql: FIND, params: [sourceId] };
}

/** What a source and its project use, and when people were last told of a limit. */
interface FoundUse extends IngressUse {
  readonly projectBytes: number;
  readonly toldAt: number;
}

/** How much sources store and send. Any code that stores or purges their events also updates this. */
export class SourceUseRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async of(sourceId: string, now: number): Promise<FoundUse> {
    const { rows, total } = await this.#read(sourceId);
    const row = rows.get(sourceId) ?? emptyRow(sourceId);
    const isTenMinutes = row.ten_minutes === windowOf(now, TEN_MINUTES_MS);
    return {
      storedBytes: row.stored_bytes,
      minuteEvents: row.minute === windowOf(now) ? row.minute_events : 0,
      tenMinutesBytes: isTenMinutes ? row.ten_minutes_bytes : 0,
      projectBytes: total,
      toldAt: row.told_at,
    };
  }

  /** What the project stores, and when its owner was last told that the disk is full. */
  async ofProject(): Promise<{ readonly storedBytes: number; readonly toldAt: number }> {
    const { rows, total } = await this.#read(PROJECT);
    return { storedBytes: total, toldAt: rows.get(PROJECT)?.told_at ?? 0 };
  }

  /** Counts a stored event. True if it's the source's first one in this hour. */
  async add(sourceId: string, bytes: number, now: number): Promise<boolean> {
    const minute = windowOf(now);
    const tenMinutes = windowOf(now, TEN_MINUTES_MS);
    const before = await this.#change(sourceId, bytes, (row) => ({
      minute,
      minute_events: (row.minute === minute ? row.minute_events : 0) + 1,
      ten_minutes: tenMinutes,
      ten_minutes_bytes: (row.ten_minutes === tenMinutes ? row.ten_minutes_bytes : 0) + bytes,
    }));
    return hourOf(before.minute) !== hourOf(minute);
  }

  /** Counts out the payloads in a range that a purge is about to delete. */
  async release(firstSeq: number, lastSeq: number): Promise<void> {
    const range = [firstSeq, lastSeq];
    const freed = await this.#tx.all<{ source_id: string; bytes: number }>(FREED, range);
    for (const { source_id, bytes } of freed) await this.#change(source_id, -bytes, () => ({}));
  }

  /** Records that people have been told of a limit: a source's, or the project's. */
  async noteTold(sourceId: string | null, now: number): Promise<void> {
    await this.#change(sourceId ?? PROJECT, 0, () => ({ told_at: now }));
  }

  async #read(sourceId: string): Promise<SharedUse> {
    const carried = this.#tx.group?.carried;
    const known = carried?.get(SHARED) as SharedUse | undefined;
    if (known?.rows.has(sourceId)) return known;
    const { sql, params } = sourceUseQuery(sourceId);
    const { total = 0, ...found } = (await this.#tx.get(sql, params)) ?? {};
    const row = found['source_id'] === null ? emptyRow(sourceId) : (found as SourceUseRow);
    // Earlier jobs of this transaction may have changed the sum.
    const shared = known ?? { rows: new Map<string, SourceUseRow>(), total: Number(total) };
    shared.rows.set(sourceId, row);
    carried?.set(SHARED, shared);
    return shared;
  }

  /** Changes a row in memory during the transaction and writes it once at its end. Returns the row before. */
  async #change(
    id: string,
    bytes: number,
    change: (row: SourceUseRow) => Partial<SourceUseRow>,
  ): Promise<SourceUseRow> {
    const { group } = this.#tx;
    if (!group) throw new Error('Only a write counts.');
    const shared = await this.#read(id);
    const before = shared.rows.get(id) ?? emptyRow(id);
    const stored = Math.max(0, before.stored_bytes + bytes);
    const after: SourceUseRow = { ...before, ...change(before), stored_bytes: stored };
    shared.rows.set(id, after);
    shared.total += stored - before.stored_bytes;
    group.atEnd(`${SHARED} ${id}`, (tx) => tx.put(SAVE, valuesOf(after)));
    return before;
  }
}

function hourOf(minute: number): number {
  return Math.floor(minute / MINUTES_OF_HOUR);
}

function emptyRow(sourceId: string): SourceUseRow {
  return {
    source_id: sourceId,
    stored_bytes: 0,
    minute: 0,
    minute_events: 0,
    ten_minutes: 0,
    ten_minutes_bytes: 0,
    told_at: 0,
  };
}

function valuesOf(row: SourceUseRow): SqlValue[] {
  return [
    row.source_id,
    row.stored_bytes,
    row.minute,
    row.minute_events,
    row.ten_minutes,
    row.ten_minutes_bytes,
    row.told_at,
  ];
}
