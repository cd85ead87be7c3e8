import type { Tx } from '../../../shared/store/driver.ts';

/** A network as the account with this address may know it. */
interface NetworkOfAddress {
  readonly addressHash: string;
  readonly networkHash: string;
  /** Confirmations before this time (ms) don't count any more. */
  readonly knownSince: number;
}

/** The share of starts that a network has: its own where it is known, or the one of all strangers. */
export async function shareOf(
  tx: Tx,
  { addressHash, networkHash, knownSince }: NetworkOfAddress,
): Promise<string> {
  const known = await tx.get(
    `SELECT 1 FROM known_network JOIN account ON account.id = account_id
     WHERE address_hash = ? AND network_hash = ? AND confirmed_at > ?`,
    [addressHash, networkHash, knownSince],
  );
  return known ? networkHash : '';
}

/** Remembers that an account confirmed a sign-in from a network, and forgets old ones of it. */
export async function learnNetwork(
  tx: Tx,
  accountId: string,
  network: { readonly hash: string; readonly now: number; readonly knownSince: number },
): Promise<void> {
  await tx.put('DELETE FROM known_network WHERE account_id = ? AND confirmed_at <= ?', [
    accountId,
    network.knownSince,
  ]);
  await tx.put(
    `INSERT INTO known_network (account_id, network_hash, confirmed_at) VALUES (?, ?, ?)
     ON CONFLICT (account_id, network_hash) DO UPDATE SET confirmed_at = excluded.confirmed_at`,
    [accountId, network.hash, network.now],
  );
}
