import {
  ACTIVITY_MS,
  ACTIVITY_SPANS,
  ActivityTally,
  binOf,
  type ActivityCell,
  type ActivityKind,
  type ActivitySpan,
} from '../../rules/activity.ts';
import { isoTime } from '../../lib/clock.ts';
import { DiskRepository } from './disk/disk.ts';
import type { Row, Tx } from '../engine/driver.ts';
import { MetaRepository } from './meta.ts';
import { firstSeqSince } from './seq-search.ts';

/** Up to where rows have been counted. */
export interface ActivityPosition {
  readonly eventSeq: number;
  readonly ledgerSeq: number;
  /** The end times of events and deliveries, as ISO text. */
  readonly eventEnd: string;
  readonly deliveryEnd: string;
  /** When they were counted last, in milliseconds; before that, the time of the first row. */
  readonly at: number;
}

interface ActivityPortion {
  readonly cells: readonly ActivityCell[];
  readonly next: ActivityPosition;
  /** False if there are more rows than one portion takes. */
  readonly isAll: boolean;
}

/** A count or value of one step, as stored. */
export type ActivityRow = Row & {
  bucket: number;
  kind: ActivityKind;
  name: string;
  value: number;
};

type EndedEventRow = Row & { id: string; status: string; received_at: string; finished_at: string };

const POSITION = 'activity';
/** A commit may be this much later than the end time in its rows. */
const SETTLED_MS = 2000;
/** From how many ended events of a portion the times are taken. */
const SAMPLES = 100;
/** How many entries of the ledger about an event are looked at. */
const ENTRIES_MAX = 40;
const CLAIMS = new Set(['inbox_claim', 'inbox_next', 'event.claimed']);
const MAIL_OPS = new Map([
  ['email.sent', 'sent'],
  ['email.failed', 'failed'],
  ['email.bounced', 'bounced'],
]);
const FAILED_OPS = new Set(['inbox_nack', 'lease.expired']);

// Grouped in SQL: a portion comes back as a few rows.
const RECEIVED = `SELECT source, substr(received_at, 1, 16) AS minute, count(*) AS n, max(seq) AS seq
  FROM (SELECT seq, source, received_at FROM event WHERE seq > ? ORDER BY seq LIMIT ?) GROUP BY 1, 2`;
const ENDED =
  'SELECT id, status, received_at, finished_at FROM event WHERE finished_at > ? AND finished_at <= ? ORDER BY finished_at';
// The plus keeps SQLite from walking the index of ops through all of history.
const ENTRIES = `SELECT at, op, subject FROM ledger WHERE seq > ? AND seq <= ? AND +op IN ('email.sent', 'email.failed', 'email.bounced', 'inbox_nack', 'lease.expired', 'request.decided') AND outcome = 'ok'`;
const PUSHED = `SELECT coalesce(route_id, 'callback') AS route, status, substr(finished_at, 1, 16) AS minute, count(*) AS n
  FROM delivery WHERE finished_at > ? AND finished_at <= ? AND status IN ('delivered', 'dead') GROUP BY 1, 2, 3`;
const BEHIND = `SELECT coalesce((SELECT max(seq) FROM event), 0) - ? AS events,
  coalesce((SELECT max(seq) FROM ledger), 0) - ? AS entries,
  (SELECT count(*) FROM (SELECT 1 FROM event WHERE finished_at > ? LIMIT ?)) AS ended,
  (SELECT count(*) FROM (SELECT 1 FROM delivery WHERE finished_at > ? LIMIT ?)) AS pushed`;
const ADD = `INSERT INTO activity (step_ms, bucket, kind, name, value)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) WHERE true
  ON CONFLICT DO UPDATE SET value = CASE WHEN kind IN ('disk', 'oldest') THEN excluded.value ELSE value + excluded.value END`;

/**
 * Counts by time of what happened in a project. They are made afterwards, from rows in the order of their times, so no
 * other write pays for them. Each method reads a bounded range, however long the history is.
 */
export class ActivityRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Where to go on counting; for a project that was never counted, a month ago. */
  async position(now: number): Promise<ActivityPosition> {
    const stored = await new MetaRepository(this.#tx).get(POSITION);
    if (typeof stored === 'string') return JSON.parse(stored) as ActivityPosition;
    const since = isoTime(now - ACTIVITY_MS);
    const ledgerSeq = await firstSeqSince(this.#tx, 'ledger', 'at', since);
    const first = await this.#tx.get('SELECT at FROM ledger WHERE seq = ?', [ledgerSeq]);
    return {
      eventSeq: (await firstSeqSince(this.#tx, 'event', 'received_at', since)) - 1,
      ledgerSeq: ledgerSeq - 1,
      eventEnd: since,
      deliveryEnd: since,
      at: first ? Date.parse(String(first['at'])) : now,
    };
  }

  /** How many rows aren't counted yet, of the kind with the most; `max` means that many or more. */
  async behind(
    { eventSeq, ledgerSeq, eventEnd, deliveryEnd }: ActivityPosition,
    max: number,
  ): Promise<number> {
    const row = await this.#tx.get(BEHIND, [eventSeq, ledgerSeq, eventEnd, max, deliveryEnd, max]);
    return Math.min(max, Math.max(...Object.values(row ?? {}).map(Number)));
  }

  /** Counts the next rows of each kind, at most about `limit` of each. */
  async count(from: ActivityPosition, now: number, limit: number): Promise<ActivityPortion> {
    const tally = new ActivityTally();
    const settled = isoTime(now - SETTLED_MS);
    const received = await this.#countReceived(tally, from.eventSeq, limit);
    const ledgerSeq = await this.#countEntries(tally, from.ledgerSeq, limit);
    const events = await this.#upTo('event', { from: from.eventEnd, settled, limit });
    await this.#countEnded(tally, from.eventEnd, events.upTo);
    const pushes = await this.#upTo('delivery', { from: from.deliveryEnd, settled, limit });
    await this.#countPushes(tally, from.deliveryEnd, pushes.upTo);
    await this.#gauge(tally, now);
    const next = {
      eventSeq: received.eventSeq,
      ledgerSeq,
      eventEnd: events.upTo,
      deliveryEnd: pushes.upTo,
      at: now,
    };
    const isAll =
      received.isAll && ledgerSeq - from.ledgerSeq < limit && events.isAll && pushes.isAll;
    return { cells: tally.cells(), next, isAll };
  }

  /** Stores counts with their position, and deletes steps that no picture shows any more. */
  async add({ cells, next }: Pick<ActivityPortion, 'cells' | 'next'>): Promise<void> {
    const rows = cells.map((cell) => [cell.stepMs, cell.bucket, cell.kind, cell.name, cell.value]);
    await this.#tx.put(ADD, [JSON.stringify(rows)]);
    for (const { stepMs, points } of ACTIVITY_SPANS) {
      const first = Math.floor(next.at / stepMs) - points;
      await this.#tx.put('DELETE FROM activity WHERE step_ms = ? AND bucket < ?', [stepMs, first]);
    }
    await new MetaRepository(this.#tx).set(POSITION, JSON.stringify(next));
  }

  /** The stored counts of a span up to now, and the values just before it. */
  of({ stepMs, points }: ActivitySpan, now: number): Promise<ActivityRow[]> {
    const first = Math.floor(now / stepMs) - points;
    return this.#tx.all<ActivityRow>(
      'SELECT bucket, kind, name, value FROM activity WHERE step_ms = ? AND bucket >= ? ORDER BY bucket',
      [stepMs, first],
    );
  }

  async #countReceived(tally: ActivityTally, from: number, limit: number) {
    const rows = await this.#tx.all(RECEIVED, [from, limit]);
    let eventSeq = from;
    let total = 0;
    for (const { source, minute, n, seq } of rows) {
      tally.add(minuteOf(minute), 'received', String(source), Number(n));
      eventSeq = Math.max(eventSeq, Number(seq));
      total += Number(n);
    }
    return { eventSeq, isAll: total < limit };
  }

  /** Counts what the ledger tells, and answers up to which entry. */
  async #countEntries(tally: ActivityTally, from: number, limit: number): Promise<number> {
    const head = await this.#tx.get('SELECT max(seq) AS seq FROM ledger');
    const upTo = Math.max(from, Math.min(Number(head?.['seq'] ?? 0), from + limit));
    for (const { at, op, subject } of await this.#tx.all(ENTRIES, [from, upTo])) {
      const [time, name] = [Date.parse(String(at)), String(op)];
      const mail = MAIL_OPS.get(name);
      if (mail !== undefined) tally.add(time, 'mail', mail);
      else if (FAILED_OPS.has(name)) tally.add(time, 'failed', '');
      else await this.#countDecision(tally, time, String(subject));
    }
    return upTo;
  }

  /** A policy decides at once, and nobody waits for it. */
  async #countDecision(tally: ActivityTally, time: number, requestId: string): Promise<void> {
    const row = await this.#tx.get(
      "SELECT created_at, decided_at FROM request WHERE id = ? AND decided_by LIKE 'channel:%'",
      [requestId],
    );
    if (!row) return;
    const took = Number(row['decided_at']) - Date.parse(String(row['created_at']));
    tally.add(time, 'decision', String(binOf(took)));
  }

  async #countEnded(tally: ActivityTally, from: string, upTo: string): Promise<void> {
    const rows = await this.#tx.all<EndedEventRow>(ENDED, [from, upTo]);
    for (const { status, finished_at } of rows) {
      if (status === 'done' || status === 'dead')
        tally.add(Date.parse(finished_at), 'ended', status);
    }
    const worked = rows.filter(({ status }) => status === 'done');
    const every = Math.ceil(worked.length / SAMPLES);
    for (const row of worked.filter((_, index) => index % every === 0)) {
      await this.#countTimes(tally, row);
    }
  }

  /** When an event was claimed stands only in the ledger. */
  async #countTimes(
    tally: ActivityTally,
    { id, received_at, finished_at }: EndedEventRow,
  ): Promise<void> {
    const entries = await this.#tx.all(
      "SELECT at, op FROM ledger WHERE subject = ? AND outcome = 'ok' ORDER BY seq LIMIT ?",
      [id, ENTRIES_MAX],
    );
    const claims = entries.filter(({ op }) => CLAIMS.has(String(op)));
    const [first, last] = [claims[0], claims.at(-1)];
    if (!first || !last) return;
    const [end, firstAt] = [Date.parse(finished_at), Date.parse(String(first['at']))];
    tally.add(end, 'wait', String(binOf(firstAt - Date.parse(received_at))));
    tally.add(end, 'work', String(binOf(end - Date.parse(String(last['at'])))));
  }

  async #countPushes(tally: ActivityTally, from: string, upTo: string): Promise<void> {
    for (const { route, status, minute, n } of await this.#tx.all(PUSHED, [from, upTo])) {
      tally.add(minuteOf(minute), 'push', `${String(route)} ${String(status)}`, Number(n));
    }
  }

  async #gauge(tally: ActivityTally, now: number): Promise<void> {
    const { keyBytes, fileBytes, uploadBytes } = await new DiskRepository(this.#tx).use();
    tally.add(now, 'disk', '', keyBytes + fileBytes + uploadBytes);
    tally.add(now, 'oldest', '', (await this.oldestPending()) ?? 0);
  }

  /** When the oldest pending event was received, in milliseconds; null if nothing is pending. */
  async oldestPending(): Promise<number | null> {
    const row = await this.#tx.get(
      "SELECT received_at FROM event WHERE status = 'pending' ORDER BY seq LIMIT 1",
    );
    return row ? Date.parse(String(row['received_at'])) : null;
  }

  /** How many events are dead; `max` means that many or more. */
  async dead(max: number): Promise<number> {
    const row = await this.#tx.get(
      "SELECT count(*) AS n FROM (SELECT 1 FROM event WHERE status = 'dead' LIMIT ?)",
      [max],
    );
    return Number(row?.['n'] ?? 0);
  }

  /** The last end time of a portion. Rows with the same time aren't parted, because the next portion begins after it. */
  async #upTo(
    table: 'event' | 'delivery',
    { from, settled, limit }: { from: string; settled: string; limit: number },
  ): Promise<{ upTo: string; isAll: boolean }> {
    const within = `FROM ${table} WHERE finished_at > ? AND finished_at <= ?`;
    const over = await this.#tx.get(
      `SELECT finished_at ${within} ORDER BY finished_at LIMIT 1 OFFSET ?`,
      [from, settled, limit],
    );
    if (!over) return { upTo: settled > from ? settled : from, isAll: true };
    const cut = String(over['finished_at']);
    const before = await this.#tx.get(
      `SELECT max(finished_at) AS time FROM ${table} WHERE finished_at > ? AND finished_at < ?`,
      [from, cut],
    );
    return { upTo: String(before?.['time'] ?? cut), isAll: false };
  }
}

/** From `2026-01-02T03:04`. */
function minuteOf(text: unknown): number {
  return Date.parse(`${String(text)}Z`);
}
