import type { Row, Tx } from '../../engine/driver.ts';

/** A route as stored. The secret is sealed, and null once the route is removed. */
export interface RouteRow extends Row {
  id: string;
  callback_url: string;
  destination: string;
  match_source: string | null;
  match_type: string | null;
  enabled: number;
  disabled_reason: string | null;
  secret: Uint8Array | null;
  created_at: string;
  created_by: string | null;
}

/** The fields that decide which events a route takes and where they go. */
export interface OpenRoute extends Row {
  id: string;
  callback_url: string;
  destination: string;
  match_source: string | null;
  match_type: string | null;
}

const COLUMNS =
  'id, callback_url, destination, match_source, match_type, enabled, disabled_reason, secret, created_at, created_by';

export class RouteRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Identifies the transaction: the same object for all its jobs, a different one for the next. Null in a snapshot. */
  get transaction(): object | null {
    return this.#tx.group ?? null;
  }

  /** Routes that take events, oldest first. */
  open(): Promise<OpenRoute[]> {
    return this.#tx.all<OpenRoute>(
      'SELECT id, callback_url, destination, match_source, match_type FROM route WHERE removed_at IS NULL AND enabled = 1 ORDER BY id',
    );
  }

  /** All routes except removed ones, oldest first. */
  list(): Promise<RouteRow[]> {
    return this.#tx.all<RouteRow>(
      `SELECT ${COLUMNS} FROM route WHERE removed_at IS NULL ORDER BY id`,
    );
  }

  find(id: string): Promise<RouteRow | undefined> {
    return this.#tx.get<RouteRow>(
      `SELECT ${COLUMNS} FROM route WHERE id = ? AND removed_at IS NULL`,
      [id],
    );
  }

  async count(): Promise<number> {
    const row = await this.#tx.get('SELECT count(*) AS n FROM route WHERE removed_at IS NULL');
    return Number(row?.['n'] ?? 0);
  }

  async insert(route: RouteRow): Promise<void> {
    await this.#tx.put(`INSERT INTO route (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      route.id,
      route.callback_url,
      route.destination,
      route.match_source,
      route.match_type,
      route.enabled,
      route.disabled_reason,
      route.secret,
      route.created_at,
      route.created_by,
    ]);
  }

  /** Stops the route from taking events, and deletes its secret. */
  async remove(id: string, nowIso: string): Promise<void> {
    await this.#tx.put('UPDATE route SET removed_at = ?, enabled = 0, secret = NULL WHERE id = ?', [
      nowIso,
      id,
    ]);
  }

  /** Stops the route from taking events and records why. False if it was already disabled. */
  async disable(id: string, reason: string): Promise<boolean> {
    const changed = await this.#tx.run(
      'UPDATE route SET enabled = 0, disabled_reason = ? WHERE id = ? AND enabled = 1',
      [reason, id],
    );
    return changed > 0;
  }

  /** Makes the route take events again. */
  async enable(id: string): Promise<void> {
    await this.#tx.put('UPDATE route SET enabled = 1, disabled_reason = NULL WHERE id = ?', [id]);
  }

  /** A disabled or removed route that still has pending deliveries; null if there is none. */
  async closedWithPending(): Promise<string | null> {
    const row = await this.#tx.get(
      `SELECT id FROM route WHERE enabled = 0
       AND EXISTS (SELECT 1 FROM delivery WHERE route_id = route.id AND status = 'pending') LIMIT 1`,
    );
    return row ? String(row['id']) : null;
  }
}
