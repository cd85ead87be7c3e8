import type { Tx } from '../../../shared/store/engine/driver.ts';

/** A network as the account with this address may know it. */
export interface NetworkOfAddress {
  readonly addressHash: string;
  readonly networkHash: string;
  /** Confirmations before this time (ms) don't count any more. */
  readonly knownSince: number;
}

/** Whether an account confirmed a sign-in from a network. */
export async function isKnownNetwork(
  tx: Tx,
  { addressHash, networkHash, knownSince }: NetworkOfAddress,
): Promise<boolean> {
  const known = await tx.get(
    `SELECT 1 FROM known_network JOIN account ON account.id = account_id
     WHERE address_hash = ? AND network_hash = ? AND confirmed_at > ?`,
    [addressHash, networkHash, knownSince],
  );
  return known !== undefined;
}

/** A network to remember. */
export interface LearnedNetwork {
  readonly hash: string;
  readonly knownSince: number;
  /** Seals its name for the row of an account. */
  readonly sealedFor: (accountId: string) => Uint8Array;
}

/** Remembers that an account confirmed a sign-in from a network, and forgets old ones of it. */
export async function learnNetwork(
  tx: Tx,
  accountId: string,
  network: LearnedNetwork & { readonly now: number },
): Promise<void> {
  await tx.put('DELETE FROM known_network WHERE account_id = ? AND confirmed_at <= ?', [
    accountId,
    network.knownSince,
  ]);
  await tx.put(
    `INSERT INTO known_network (account_id, network_hash, confirmed_at, network) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, network_hash) DO UPDATE SET confirmed_at = excluded.confirmed_at,
       network = excluded.network`,
    [accountId, network.hash, network.now, network.sealedFor(accountId)],
  );
}
