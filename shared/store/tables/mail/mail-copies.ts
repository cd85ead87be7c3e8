import type { Row, Tx } from '../../engine/driver.ts';

/** A stored mail, as far as it tells a duplicate. */
interface DeliveredMail extends Row {
  id: string;
  provider_id: string;
  body_hash: Uint8Array;
  /** See `MailParts`; null in mails of earlier releases, and once the content is purged. */
  identity: string | null;
}

/** Mails under the same Message-ID: copies of one mail, or different ones whose sender re-uses ids. */
export class MailCopyRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The mails of a source with either provider id since a time, newest first. */
  deliveredAs(
    sourceId: string,
    providerIds: readonly [string, string],
    sinceIso: string,
  ): Promise<DeliveredMail[]> {
    return this.#tx.all<DeliveredMail>(
      `SELECT e.id, e.provider_id, e.body_hash, json_extract(c.headers, '$.identity') AS identity
       FROM event e JOIN event_content c ON c.seq = e.seq
       WHERE e.source_id = ? AND e.provider_id IN (?, ?) AND e.received_at >= ? ORDER BY e.seq DESC`,
      [sourceId, ...providerIds, sinceIso],
    );
  }

  /** How many are dead because they were set aside (see `MailIds.ofOther`); `max` stands for it and more. */
  async setAside(max: number): Promise<number> {
    const row = await this.#tx.get(
      "SELECT count(*) AS n FROM (SELECT 1 FROM event WHERE status = 'dead' AND channel = 'email' AND provider_id LIKE '% other:%' LIMIT ?)",
      [max],
    );
    return Number(row?.['n'] ?? 0);
  }
}
