import { effective, type EventStatus } from '../../../rules/inbox/event-state.ts';
import { keptSince } from '../../../rules/inbox/retention.ts';
import type { Row, SqlValue, Tx } from '../../engine/driver.ts';
import { anyStateSql, candidateSql, EVENT_STATES, type EventFilter } from './event-query.ts';
import { listedEvent, SUM_COLUMNS, type SummedEventRow } from './event-content.ts';
import { CONTENT_COLUMNS, PARK_COLUMNS, QUEUE_COLUMNS, type EventRow } from './events.ts';
import { firstSeqSince } from '../seq-search.ts';

/** How many index entries a count reads for each state. */
const COUNTED_MAX = 10_000;
/** Rows whose state time has changed but no write yet; maintenance keeps them few. */
const OVERDUE_MAX = 1000;
/** How many sources and types a filter offers. */
const KNOWN_MAX = 100;

/** A number of events; `isMore` means that there are more than were counted. */
interface EventCount {
  readonly count: number;
  readonly isMore: boolean;
}

export type EventCounts = Readonly<Record<EventStatus, EventCount>>;

export interface HistoryFilter extends Pick<EventFilter, 'source' | 'type' | 'limit' | 'now'> {
  /** Undefined: any state. */
  readonly status?: EventStatus | undefined;
  readonly since?: string | undefined;
  readonly beforeSeq?: number | undefined;
  /** Larger bodies aren't read. */
  readonly bodyMaxBytes: number;
}

/** Events as a person looks through them: newest first, with counts. Each method reads short index ranges only. */
export class EventHistoryRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** A page, newest first. States are as of `now`, not as last stored. */
  async page({ status, since, bodyMaxBytes, ...filter }: HistoryFilter): Promise<EventRow[]> {
    const afterSeq = since === undefined ? 0 : (await this.firstSince(since)) - 1;
    const wanted = { ...filter, afterSeq, newestFirst: true };
    const { sql, params } =
      status === undefined ? anyStateSql(wanted) : candidateSql({ ...wanted, status });
    return this.#rows(sql, params, { bodyMaxBytes, now: filter.now });
  }

  /** The events with these seqs, newest first, without larger bodies. */
  at(
    seqs: readonly number[],
    of: { readonly bodyMaxBytes: number; readonly now: number },
  ): Promise<EventRow[]> {
    return this.#rows('SELECT value AS seq FROM json_each(?)', [JSON.stringify(seqs)], of);
  }

  async #rows(
    sql: string,
    params: readonly SqlValue[],
    { bodyMaxBytes, now }: { readonly bodyMaxBytes: number; readonly now: number },
  ): Promise<EventRow[]> {
    // CROSS fixes the join order: first the page, then its rows.
    const rows = await this.#tx.all<SummedEventRow>(
      `SELECT ${QUEUE_COLUMNS}, e.reason, ${CONTENT_COLUMNS}, ${SUM_COLUMNS}, ${PARK_COLUMNS},
         CASE WHEN e.size_bytes <= ? THEN c.body END AS body
       FROM (${sql}) AS candidate CROSS JOIN event e ON e.seq = candidate.seq
       CROSS JOIN event_content c ON c.seq = e.seq LEFT JOIN park p ON p.seq = e.seq ORDER BY e.seq DESC`,
      [bodyMaxBytes, ...params],
    );
    const kept = keptSince(now);
    return rows.map((row) => listedEvent(row, kept));
  }

  /** The seq of the first event received at or after a time; one past the last if there is none. */
  firstSince(sinceIso: string): Promise<number> {
    return firstSeqSince(this.#tx, 'event', 'received_at', sinceIso);
  }

  /** The id of the event with this seq; null if there is none. */
  async idAt(seq: number): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>('SELECT id FROM event WHERE seq = ?', [seq]);
    return row?.id ?? null;
  }

  /** The seq of the newest event; 0 if there are none. */
  async newestSeq(): Promise<number> {
    return Number((await this.#tx.get('SELECT max(seq) AS seq FROM event'))?.['seq'] ?? 0);
  }

  /**
   * How many events are in each state, of one source or type if given. Reads at most `COUNTED_MAX` index entries for a
   * state; without a filter, finished events are the rest of all.
   */
  async counts(
    now: number,
    { source, type }: { readonly source?: string | undefined; readonly type?: string | undefined },
  ): Promise<EventCounts> {
    const column = source === undefined ? 'type' : 'source';
    const value = source ?? type;
    const one = `SELECT count(*) FROM (SELECT 1 FROM event WHERE status = ?${value === undefined ? '' : ` AND ${column} = ?`} LIMIT ${COUNTED_MAX + 1})`;
    const states = value === undefined ? EVENT_STATES.slice(0, -1) : EVENT_STATES;
    const row = await this.#tx.get<Record<string, number>>(
      `SELECT ${states.map((state) => `(${one}) AS ${state}`).join(', ')}`,
      states.flatMap((state) => (value === undefined ? [state] : [state, value])),
    );
    const counts = new Map(states.map((state) => [state, row?.[state] ?? 0]));
    if (value === undefined) counts.set('done', await this.#doneOf(counts));
    for (const [from, to] of await this.#overdue(now, { column, value })) {
      counts.set(from, (counts.get(from) ?? 0) - 1);
      counts.set(to, (counts.get(to) ?? 0) + 1);
    }
    return Object.fromEntries(
      EVENT_STATES.map((state) => [state, capped(counts.get(state) ?? 0, state, value)]),
    ) as EventCounts;
  }

  /** Events have consecutive seqs and are never deleted, so what is in no other state is done. */
  async #doneOf(counts: ReadonlyMap<EventStatus, number>): Promise<number> {
    const others = [...counts.values()];
    if (others.every((count) => count <= COUNTED_MAX)) {
      return (await this.newestSeq()) - others.reduce((sum, count) => sum + count, 0);
    }
    const row = await this.#tx.get(
      `SELECT count(*) AS count FROM (SELECT 1 FROM event WHERE status = 'done' LIMIT ${COUNTED_MAX + 1})`,
    );
    return Number(row?.['count'] ?? 0);
  }

  async #overdue(
    now: number,
    { column, value }: { readonly column: string; readonly value: string | undefined },
  ): Promise<[from: EventStatus, to: EventStatus][]> {
    const rows = await this.#tx.all<OverdueRow>(
      `SELECT status, attempts, due_at FROM event INDEXED BY event_due WHERE due_at <= ?${value === undefined ? '' : ` AND ${column} = ?`} LIMIT ${OVERDUE_MAX}`,
      value === undefined ? [now] : [now, value],
    );
    return rows.map((row) => {
      const queued = { ...row, lease_id: null, holder_key_id: null, routed: false };
      return [row.status, effective(queued, now).status];
    });
  }

  /** The sources and types that events have, in the order of the alphabet. Takes one index step for each. */
  async known(): Promise<{ sources: string[]; types: string[] }> {
    return { sources: await this.#distinct('source'), types: await this.#distinct('type') };
  }

  async #distinct(column: 'source' | 'type'): Promise<string[]> {
    const found = new Set<string>();
    const next = `SELECT min(${column}) FROM event WHERE status = ?1`;
    for (const state of EVENT_STATES) {
      const rows = await this.#tx.all<{ name: string }>(
        `WITH RECURSIVE named(name) AS (
           SELECT (${next})
           UNION ALL SELECT (${next} AND ${column} > named.name) FROM named WHERE named.name IS NOT NULL LIMIT ?2)
         SELECT name FROM named WHERE name IS NOT NULL`,
        [state, KNOWN_MAX],
      );
      for (const { name } of rows) found.add(name);
    }
    return [...found].toSorted().slice(0, KNOWN_MAX);
  }
}

interface OverdueRow extends Row {
  status: EventStatus;
  attempts: number;
  due_at: number;
}

function capped(count: number, state: EventStatus, filtered: string | undefined): EventCount {
  // Subtraction, not counting, gives the exact number of finished events.
  const isExact = state === 'done' && filtered === undefined && count !== COUNTED_MAX + 1;
  if (isExact || count <= COUNTED_MAX) return { count: Math.max(0, count), isMore: false };
  return { count: COUNTED_MAX, isMore: true };
}
