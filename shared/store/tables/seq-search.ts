import type { Tx } from '../engine/driver.ts';

/**
 * The first seq whose time is at or after `sinceIso`; one past the last if there is none. Times never decrease with seq
 * in these tables, so a binary search over the rowid works and the time needs no index.
 */
export async function firstSeqSince(
  tx: Tx,
  table: 'event' | 'ledger',
  column: 'received_at' | 'at',
  sinceIso: string,
): Promise<number> {
  const last = await tx.get(`SELECT max(seq) AS seq FROM ${table}`);
  let low = 1;
  let high = Number(last?.['seq'] ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await tx.get(
      `SELECT ${column} AS time FROM ${table} WHERE seq <= ? ORDER BY seq DESC LIMIT 1`,
      [middle],
    );
    const earlier = row !== undefined && String(row['time']) < sinceIso;
    if (earlier) low = middle + 1;
    else high = middle;
  }
  return low;
}
