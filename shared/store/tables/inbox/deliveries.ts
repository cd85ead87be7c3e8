import type { DeliveryStatus } from '../../../rules/inbox/delivery-state.ts';
import type { EventStatus } from '../../../rules/inbox/event-state.ts';
import { keptSince } from '../../../rules/inbox/retention.ts';
import type { Row, SqlValue, Tx } from '../../engine/driver.ts';

/** The delivery of an event to one address. */
export interface DeliveryRow extends Row {
  id: string;
  event_seq: number;
  /** Null for a request's callback. */
  route_id: string | null;
  request_id: string | null;
  url: string;
  destination: string;
  status: DeliveryStatus;
  attempts: number;
  /** Attempts in earlier rounds. */
  attempts_before: number;
  /** When the next attempt is due, in milliseconds; null if none is. */
  due_at: number | null;
  created_at: string;
  finished_at: string | null;
}

/** A delivery as a route's log shows it. */
export interface LoggedDelivery extends DeliveryRow {
  event_id: string;
  event_type: string;
}

export interface AttemptRow extends Row {
  attempt: number;
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  response: string | null;
}

/** The event that a delivery sends. */
interface CarriedEvent extends Row {
  id: string;
  source: string;
  type: string;
  status: EventStatus;
}

const COLUMNS =
  'd.id, d.event_seq, d.route_id, d.request_id, d.url, d.destination, d.status, d.attempts, d.attempts_before, d.due_at, d.created_at, d.finished_at';
const STATUSES: readonly DeliveryStatus[] = ['pending', 'delivered', 'dead', 'cancelled'];
const INSERT = `INSERT INTO delivery (id, event_seq, route_id, request_id, url, destination, status, due_at, created_at)
  VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`;
const DUE_IDS =
  "SELECT id FROM delivery WHERE destination = ? AND status = 'pending' AND due_at <= ? ORDER BY due_at, id LIMIT ?";
const FIND = `SELECT ${COLUMNS} FROM delivery d WHERE d.id = ?`;

/** Deliveries to callbacks, and their log. */
export class DeliveryRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async insert(row: {
    readonly id: string;
    readonly eventSeq: number;
    readonly routeId: string | null;
    readonly requestId: string | null;
    readonly url: string;
    readonly destination: string;
    readonly dueAt: number;
    readonly createdAt: string;
  }): Promise<void> {
    const { id, eventSeq, routeId, requestId, url, destination, dueAt, createdAt } = row;
    await this.#tx.put(INSERT, [
      id,
      eventSeq,
      routeId,
      requestId,
      url,
      destination,
      dueAt,
      createdAt,
    ]);
  }

  find(id: string): Promise<DeliveryRow | undefined> {
    return this.#tx.get<DeliveryRow>(FIND, [id]);
  }

  /** Every destination with a due delivery. Takes one index step per destination, however long its queue is. */
  async dueDestinations(now: number): Promise<string[]> {
    const found: string[] = [];
    for (const { destination, dueAt } of await this.#firstOfEach(0)) {
      if (dueAt <= now) found.push(destination);
    }
    return found;
  }

  /** The first time after `now` when a delivery is due. */
  async nextDueAfter(now: number): Promise<number | null> {
    const times = (await this.#firstOfEach(now + 1)).map(({ dueAt }) => dueAt);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** For each destination, the earliest due time that isn't before `from`. */
  async #firstOfEach(from: number): Promise<{ destination: string; dueAt: number }[]> {
    const rows = await this.#tx.all<{ destination: string; due_at: number | null }>(
      `WITH RECURSIVE place(destination) AS (
         SELECT (SELECT min(destination) FROM delivery WHERE status = 'pending')
         UNION ALL
         SELECT (SELECT min(destination) FROM delivery WHERE status = 'pending' AND destination > place.destination)
         FROM place WHERE place.destination IS NOT NULL)
       SELECT destination, (SELECT min(due_at) FROM delivery d WHERE d.destination = place.destination
         AND d.status = 'pending' AND d.due_at >= ?) AS due_at
       FROM place WHERE destination IS NOT NULL`,
      [from],
    );
    return rows.flatMap(({ destination, due_at: dueAt }) =>
      dueAt === null ? [] : [{ destination, dueAt }],
    );
  }

  /** The due deliveries of a destination, longest waiting first. Reads only the index. */
  async dueIds(destination: string, now: number, limit: number): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(DUE_IDS, [destination, now, limit]);
    return rows.map(({ id }) => id);
  }

  /** Gives all of them a new due time. */
  async deferAll(ids: readonly string[], dueAt: number): Promise<void> {
    await this.#tx.put(
      'UPDATE delivery SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      [dueAt, JSON.stringify(ids)],
    );
  }

  /** Gives a new due time to those that are still due when their claim lapses. */
  async giveBack(
    ids: readonly string[],
    { claimedUntil, dueAt }: { readonly claimedUntil: number; readonly dueAt: number },
  ): Promise<void> {
    await this.#tx.put(
      "UPDATE delivery SET due_at = ? WHERE due_at = ? AND status = 'pending' AND id IN (SELECT value FROM json_each(?))",
      [dueAt, claimedUntil, JSON.stringify(ids)],
    );
  }

  /** Ends a delivery. */
  async finish(
    id: string,
    end: {
      readonly status: Exclude<DeliveryStatus, 'pending'>;
      readonly attempts: number;
      readonly nowIso: string;
    },
  ): Promise<void> {
    await this.#tx.put(
      'UPDATE delivery SET status = ?, attempts = ?, due_at = NULL, finished_at = ? WHERE id = ?',
      [end.status, end.attempts, end.nowIso, id],
    );
  }

  /** Cancels the callbacks that wait to be sent for requests of these keys; returns how many. */
  cancelCallbacksOf(keyIds: readonly string[], nowIso: string): Promise<number> {
    return this.#tx.run(
      `UPDATE delivery SET status = 'cancelled', due_at = NULL, finished_at = ?
       WHERE status = 'pending' AND route_id IS NULL
         AND request_id IN (SELECT id FROM request WHERE key_id IN (SELECT value FROM json_each(?)))`,
      [nowIso, JSON.stringify(keyIds)],
    );
  }

  async retryAt(id: string, attempts: number, dueAt: number): Promise<void> {
    await this.#tx.put('UPDATE delivery SET attempts = ?, due_at = ? WHERE id = ?', [
      attempts,
      dueAt,
      id,
    ]);
  }

  /** Starts a new round of attempts for a finished delivery. */
  async revive(id: string, now: number): Promise<void> {
    await this.#tx.put(
      "UPDATE delivery SET status = 'pending', attempts_before = attempts, due_at = ?, finished_at = NULL WHERE id = ?",
      [now, id],
    );
  }

  /** Makes up to `limit` pending deliveries of a route due now; returns how many. */
  hasten(routeId: string, now: number, limit: number): Promise<number> {
    return this.#tx.run(
      `UPDATE delivery SET due_at = ?1 WHERE id IN (SELECT id FROM delivery
         WHERE route_id = ?2 AND status = 'pending' AND due_at > ?1 ORDER BY id LIMIT ?3)`,
      [now, routeId, limit],
    );
  }

  async addAttempt(deliveryId: string, attempt: AttemptRow): Promise<void> {
    await this.#tx.put(
      'INSERT OR REPLACE INTO delivery_attempt (delivery_id, attempt, at, status_code, duration_ms, error, response) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [
        deliveryId,
        attempt.attempt,
        attempt.at,
        attempt.status_code,
        attempt.duration_ms,
        attempt.error,
        attempt.response,
      ],
    );
  }

  /** The latest attempts of a delivery, newest first. */
  attempts(deliveryId: string, limit: number): Promise<AttemptRow[]> {
    return this.#tx.all<AttemptRow>(
      'SELECT attempt, at, status_code, duration_ms, error, response FROM delivery_attempt WHERE delivery_id = ? ORDER BY attempt DESC LIMIT ?',
      [deliveryId, limit],
    );
  }

  /** The states of an event's deliveries by routes. */
  async statusesOf(eventSeq: number): Promise<DeliveryStatus[]> {
    const rows = await this.#tx.all<{ status: DeliveryStatus }>(
      'SELECT status FROM delivery WHERE event_seq = ? AND route_id IS NOT NULL',
      [eventSeq],
    );
    return rows.map(({ status }) => status);
  }

  /** The deliveries of an event, oldest first. */
  ofEvent(eventSeq: number, limit: number): Promise<DeliveryRow[]> {
    return this.#tx.all<DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery d WHERE d.event_seq = ? ORDER BY d.id LIMIT ?`,
      [eventSeq, limit],
    );
  }

  /** Pending deliveries of a route, oldest first. */
  pendingOf(routeId: string, limit: number): Promise<DeliveryRow[]> {
    return this.#tx.all<DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery d WHERE d.route_id = ? AND d.status = 'pending' ORDER BY d.id LIMIT ?`,
      [routeId, limit],
    );
  }

  /** Dead deliveries of a route that are still kept and whose events are still dead; oldest first. */
  revivable(routeId: string, now: number, limit: number): Promise<DeliveryRow[]> {
    return this.#tx.all<DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery d CROSS JOIN event e ON e.seq = d.event_seq
       WHERE d.route_id = ? AND d.status = 'dead' AND d.created_at >= ? AND e.status = 'dead' ORDER BY d.id LIMIT ?`,
      [routeId, keptSince(now), limit],
    );
  }

  /** Deliveries that a route cancelled when it was disabled and whose events are still pending; oldest first. */
  resumable(routeId: string, now: number, limit: number): Promise<DeliveryRow[]> {
    return this.#tx.all<DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery d CROSS JOIN event e ON e.seq = d.event_seq
       WHERE d.route_id = ? AND d.status = 'cancelled' AND d.created_at >= ? AND e.status = 'pending' ORDER BY d.id LIMIT ?`,
      [routeId, keptSince(now), limit],
    );
  }

  /** How many deliveries of a route are pending, and how many are dead. */
  async countsOf(routeId: string, now: number): Promise<{ pending: number; dead: number }> {
    const row = await this.#tx.get(
      `SELECT (SELECT count(*) FROM delivery WHERE route_id = ?1 AND status = 'pending') AS pending,
         (SELECT count(*) FROM delivery WHERE route_id = ?1 AND status = 'dead' AND created_at >= ?2) AS dead`,
      [routeId, keptSince(now)],
    );
    return { pending: Number(row?.['pending'] ?? 0), dead: Number(row?.['dead'] ?? 0) };
  }

  /** A page of a route's log, newest first; `beforeId` is empty for the first page. */
  page(filter: {
    readonly routeId: string;
    readonly status?: DeliveryStatus | undefined;
    readonly beforeId: string;
    readonly limit: number;
    readonly now: number;
  }): Promise<LoggedDelivery[]> {
    const { routeId, status, beforeId, limit, now } = filter;
    const since = keptSince(now);
    const wanted = status === undefined ? STATUSES : [status];
    // The index is sorted only within a status, so take a page of each status and merge them.
    const pages = wanted.map(
      () =>
        "SELECT id FROM (SELECT id FROM delivery WHERE route_id = ? AND status = ? AND id < ? AND (status = 'pending' OR created_at >= ?) ORDER BY id DESC LIMIT ?)",
    );
    const upTo = beforeId === '' ? AFTER_ALL : beforeId;
    const params = wanted.flatMap((one): SqlValue[] => [routeId, one, upTo, since, limit]);
    return this.#tx.all<LoggedDelivery>(
      `SELECT ${COLUMNS}, e.id AS event_id, e.type AS event_type
       FROM (SELECT id FROM (${pages.join(' UNION ALL ')}) ORDER BY id DESC LIMIT ?) AS candidate
       CROSS JOIN delivery d ON d.id = candidate.id CROSS JOIN event e ON e.seq = d.event_seq ORDER BY d.id DESC`,
      [...params, limit],
    );
  }

  /** Routes deliver the event from now on, so agents can't pull it. */
  async setRouted(eventSeq: number): Promise<void> {
    await this.#tx.put('UPDATE event SET routed = 1 WHERE seq = ?', [eventSeq]);
  }

  /** Counts a failed attempt to deliver an event. */
  async countFailure(eventSeq: number): Promise<void> {
    await this.#tx.put('UPDATE event SET attempts = attempts + 1 WHERE seq = ?', [eventSeq]);
  }

  /** Stores the state of a routed event. */
  async setEvent(
    eventSeq: number,
    state: {
      readonly status: 'pending' | 'done' | 'dead';
      readonly routed: boolean;
      readonly nowIso: string;
    },
  ): Promise<void> {
    const { status, routed, nowIso } = state;
    await this.#tx.put('UPDATE event SET status = ?, routed = ?, finished_at = ? WHERE seq = ?', [
      status,
      routed ? 1 : 0,
      status === 'pending' ? null : nowIso,
      eventSeq,
    ]);
  }

  eventOf(eventSeq: number): Promise<CarriedEvent | undefined> {
    return this.#tx.get<CarriedEvent>('SELECT id, source, type, status FROM event WHERE seq = ?', [
      eventSeq,
    ]);
  }

  /** When the oldest finished delivery was created; null if none is finished. */
  async oldestFinished(): Promise<string | null> {
    const row = await this.#tx.get(
      "SELECT created_at FROM delivery WHERE status <> 'pending' ORDER BY id LIMIT 1",
    );
    return row ? String(row['created_at']) : null;
  }

  /** Deletes up to `limit` finished deliveries created before a time, with their attempts; returns how many. */
  async deleteFinished(beforeIso: string, limit: number): Promise<number> {
    const rows = await this.#tx.all<{ id: string; created_at: string }>(
      "SELECT id, created_at FROM delivery WHERE status <> 'pending' ORDER BY id LIMIT ?",
      [limit],
    );
    const old = rows.filter(({ created_at }) => created_at < beforeIso);
    for (const { id } of old) {
      await this.#tx.put('DELETE FROM delivery_attempt WHERE delivery_id = ?', [id]);
      await this.#tx.put('DELETE FROM delivery WHERE id = ?', [id]);
    }
    return old.length;
  }
}

/** Sorts after every delivery id. */
const AFTER_ALL = 'dlv`';
