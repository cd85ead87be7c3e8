import type { Verification } from '../../../senders/registry.ts';
import type { Row, Tx } from '../../engine/driver.ts';

const HOUR_MS = 3_600_000;
/** Writing an hour's counts deletes counts older than this. */
const HOURS_KEPT = 25;

/** A source as stored; its secrets and token are sealed. */
export interface SourceRow extends Row {
  id: string;
  name: string;
  type: 'webhook' | 'email';
  verification: Verification;
  signature_header: string | null;
  secret: Uint8Array | null;
  /** The previous secret, which also works until `previous_valid_until` (milliseconds). */
  previous_secret: Uint8Array | null;
  previous_valid_until: number | null;
  token: Uint8Array | null;
  created_at: string;
  /** The key or the person that added it; null in rows of earlier releases. */
  created_by: string | null;
  /** Who set the secret that it has now. */
  secret_by: string | null;
}

/** The last event, and counts of the last 24 hours. */
export interface SourceActivity extends Row {
  last_event_at: string | null;
  events_24h: number;
  rejected_24h: number;
  repeated_24h: number;
}

const COLUMNS =
  'id, name, type, verification, signature_header, secret, previous_secret, previous_valid_until, token, created_at, created_by, secret_by';
const PRUNE = 'DELETE FROM source_hour WHERE source_id = ? AND hour < ?';

export class SourceRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  list(): Promise<SourceRow[]> {
    return this.#tx.all<SourceRow>(
      `SELECT ${COLUMNS} FROM source WHERE removed_at IS NULL ORDER BY name`,
    );
  }

  findByName(name: string): Promise<SourceRow | undefined> {
    return this.#tx.get<SourceRow>(
      `SELECT ${COLUMNS} FROM source WHERE name = ? AND removed_at IS NULL`,
      [name],
    );
  }

  /** The mail source; a project has at most one. */
  email(): Promise<SourceRow | undefined> {
    return this.#tx.get<SourceRow>(
      `SELECT ${COLUMNS} FROM source WHERE type = 'email' AND removed_at IS NULL`,
    );
  }

  /** An active source by the SHA-256 of its hook token. */
  findByTokenHash(tokenHash: string): Promise<SourceRow | undefined> {
    return this.#tx.get<SourceRow>(
      `SELECT ${COLUMNS} FROM source WHERE token_hash = ? AND removed_at IS NULL`,
      [tokenHash],
    );
  }

  /** An active source by its id. */
  findById(id: string): Promise<SourceRow | undefined> {
    return this.#tx.get<SourceRow>(
      `SELECT ${COLUMNS} FROM source WHERE id = ? AND removed_at IS NULL`,
      [id],
    );
  }

  async insert(source: SourceRow & { token_hash: string | null }): Promise<void> {
    await this.#tx.put(
      `INSERT INTO source (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        source.id,
        source.name,
        source.type,
        source.verification,
        source.signature_header,
        source.secret,
        source.previous_secret,
        source.previous_valid_until,
        source.token,
        source.created_at,
        source.created_by,
        source.secret_by,
        source.token_hash,
      ],
    );
  }

  /** Stops the token at once and deletes the sealed values. */
  async remove(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      'UPDATE source SET removed_at = ?, secret = NULL, secret_by = NULL, previous_secret = NULL, previous_valid_until = NULL, token = NULL, token_hash = NULL WHERE id = ?',
      [nowIso, id],
    );
  }

  async setSecrets(
    id: string,
    secrets: Pick<SourceRow, 'secret' | 'previous_secret' | 'previous_valid_until' | 'secret_by'>,
  ): Promise<void> {
    const { secret, previous_secret, previous_valid_until, secret_by } = secrets;
    await this.#tx.put(
      'UPDATE source SET secret = ?, previous_secret = ?, previous_valid_until = ?, secret_by = ? WHERE id = ?',
      [secret, previous_secret, previous_valid_until, secret_by, id],
    );
  }

  /** When the next previous secret expires. */
  async nextPreviousEnd(): Promise<number | null> {
    const row = await this.#tx.get<{ due: number | null }>(
      'SELECT min(previous_valid_until) AS due FROM source WHERE previous_valid_until IS NOT NULL',
    );
    return row?.due ?? null;
  }

  dropPreviousSecrets(now: number, limit: number): Promise<number> {
    return this.#tx.run(
      'UPDATE source SET previous_secret = NULL, previous_valid_until = NULL WHERE id IN (SELECT id FROM source WHERE previous_valid_until <= ? ORDER BY previous_valid_until LIMIT ?)',
      [now, limit],
    );
  }

  async activity(id: string, now: number): Promise<SourceActivity> {
    const row = await this.#tx.get<SourceActivity>(
      `SELECT s.last_event_at, coalesce(sum(h.accepted), 0) AS events_24h, coalesce(sum(h.rejected), 0) AS rejected_24h,
         coalesce(sum(h.repeated), 0) AS repeated_24h
       FROM source s LEFT JOIN source_hour h ON h.source_id = s.id AND h.hour > ?2
       WHERE s.id = ?1 GROUP BY s.id`,
      [id, Math.floor(now / HOUR_MS) - 24],
    );
    return row ?? { last_event_at: null, events_24h: 0, rejected_24h: 0, repeated_24h: 0 };
  }

  /**
   * Counts in memory during the transaction and writes once at its end. `isNewHour`: this is the source's first event in
   * this hour, so older counts may have to go.
   */
  countAccepted(id: string, now: number, receivedAt: string, isNewHour: boolean): void {
    const { group } = this.#tx;
    if (!group) throw new Error('Only a write counts.');
    const hour = Math.floor(now / HOUR_MS);
    const name = `source.accepted ${id} ${hour}`;
    const before = group.carried.get(name) as { count: number; prunes: boolean } | undefined;
    const count = (before?.count ?? 0) + 1;
    const prunes = isNewHour || before?.prunes === true;
    group.carried.set(name, { count, prunes });
    group.atEnd(name, async (tx) => {
      await tx.put(
        'INSERT INTO source_hour (source_id, hour, accepted) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET accepted = accepted + excluded.accepted',
        [id, hour, count],
      );
      await tx.put(
        "UPDATE source SET last_event_at = max(coalesce(last_event_at, ''), ?) WHERE id = ?",
        [receivedAt, id],
      );
      if (prunes) await tx.put(PRUNE, [id, hour - HOURS_KEPT]);
      group.carried.delete(name);
    });
  }

  /** Counts deliveries that made no event: refused, or repeated without an id. */
  async countUnstored(
    id: string,
    now: number,
    { rejected, repeated }: { readonly rejected: number; readonly repeated: number },
  ): Promise<void> {
    const hour = Math.floor(now / HOUR_MS);
    await this.#tx.put(
      'INSERT INTO source_hour (source_id, hour, rejected, repeated) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET rejected = rejected + excluded.rejected, repeated = repeated + excluded.repeated',
      [id, hour, rejected, repeated],
    );
    await this.#tx.put(PRUNE, [id, hour - HOURS_KEPT]);
  }
}
