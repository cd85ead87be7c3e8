import type { Row, Tx } from './driver.ts';

export interface RequestRow extends Row {
  id: string;
  kind: string;
  status: string;
  key_id: string;
  /** What exactly was asked, as canonical JSON. */
  subject: string;
  comment: string | null;
  created_at: string;
  /** Milliseconds, as are the two below. */
  expires_at: number;
  decided_at: number | null;
  redeemed_at: number | null;
}

const COLUMNS =
  'id, kind, status, key_id, subject, comment, created_at, expires_at, decided_at, redeemed_at';

/** What waits, or waited, for a person. */
export class RequestRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(id: string): Promise<RequestRow | undefined> {
    return this.#tx.get<RequestRow>(`SELECT ${COLUMNS} FROM request WHERE id = ?`, [id]);
  }

  /** The pending request of a key that asks the same. */
  findSame(
    same: { readonly keyId: string; readonly kind: string; readonly subject: string },
    now: number,
  ): Promise<RequestRow | undefined> {
    return this.#tx.get<RequestRow>(
      `SELECT ${COLUMNS} FROM request WHERE key_id = ? AND kind = ? AND subject = ? AND status = 'pending' AND expires_at > ?
       ORDER BY id DESC LIMIT 1`,
      [same.keyId, same.kind, same.subject, now],
    );
  }

  async countPending(now: number): Promise<number> {
    const row = await this.#tx.get(
      "SELECT count(*) AS n FROM request WHERE status = 'pending' AND expires_at > ?",
      [now],
    );
    return Number(row?.['n'] ?? 0);
  }

  async insert(row: RequestRow): Promise<void> {
    await this.#tx.run(`INSERT INTO request (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      row.id,
      row.kind,
      row.status,
      row.key_id,
      row.subject,
      row.comment,
      row.created_at,
      row.expires_at,
      row.decided_at,
      row.redeemed_at,
    ]);
  }

  /** Uses an approval up; false when somebody has before. */
  async redeem(id: string, now: number): Promise<boolean> {
    const changed = await this.#tx.run(
      'UPDATE request SET redeemed_at = ? WHERE id = ? AND redeemed_at IS NULL',
      [now, id],
    );
    return changed > 0;
  }
}
