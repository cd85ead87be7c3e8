import type { Row, Tx } from './driver.ts';

/** A route as stored; the secret is sealed, and null once the route is removed. */
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

/** What it takes to know the events of a route and where they go. */
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

  /** Stands for the transaction: the same object in all its jobs, another one in the next. Null in a snapshot. */
  get transaction(): object | null {
    return this.#tx.group ?? null;
  }

  /** The routes that take events, oldest first. */
  open(): Promise<OpenRoute[]> {
    return this.#tx.all<OpenRoute>(
      'SELECT id, callback_url, destination, match_source, match_type FROM route WHERE removed_at IS NULL AND enabled = 1 ORDER BY id',
    );
  }

  /** All that are not removed, oldest first. */
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

  /** It takes no more events; its secret goes with it. */
  async remove(id: string, nowIso: string): Promise<void> {
    await this.#tx.put('UPDATE route SET removed_at = ?, enabled = 0, secret = NULL WHERE id = ?', [
      nowIso,
      id,
    ]);
  }

  /** It takes no more events, and says why. False when it took none before. */
  async disable(id: string, reason: string): Promise<boolean> {
    const changed = await this.#tx.run(
      'UPDATE route SET enabled = 0, disabled_reason = ? WHERE id = ? AND enabled = 1',
      [reason, id],
    );
    return changed > 0;
  }

  /** It takes events from now on. */
  async enable(id: string): Promise<void> {
    await this.#tx.put('UPDATE route SET enabled = 1, disabled_reason = NULL WHERE id = ?', [id]);
  }

  /** A route that takes no more events and has some under way all the same; null when there is none. */
  async closedWithPending(): Promise<string | null> {
    const row = await this.#tx.get(
      `SELECT id FROM route WHERE enabled = 0
       AND EXISTS (SELECT 1 FROM delivery WHERE route_id = route.id AND status = 'pending') LIMIT 1`,
    );
    return row ? String(row['id']) : null;
  }
}
