import type { Tx } from '../../../shared/store/engine/driver.ts';
import { isKnownNetwork, type NetworkOfAddress } from './known-networks.ts';

/** The limits of starts to a mailbox since a time (ms). */
export interface StartLimits {
  readonly since: number;
  /** From one network. */
  readonly perNetwork: number;
  /** From all networks together that the account doesn't know. */
  readonly strangers: number;
}

interface Start {
  /** Counts starts per mailbox. */
  readonly rateHash: string;
  readonly network: NetworkOfAddress;
}

type ShareResult =
  /** The share that the start counts against: its known network, or the empty one of all others. */
  | { readonly share: string }
  /** When the start was made (ms) that must age first. */
  | { readonly inTheWay: number };

/** Denied sign-ins don't count, so that a stranger can't use up a person's limit. */
const COUNTED = { login: "state <> 'denied'", ui_link: '1' } as const;

/**
 * Finds room for a start. A known network has a share of its own. The others have one each, and one together that no single
 * network can use up.
 */
export async function takeShare(
  tx: Tx,
  table: keyof typeof COUNTED,
  { rateHash, network }: Start,
  { since, perNetwork, strangers }: StartLimits,
): Promise<ShareResult> {
  const share = (await isKnownNetwork(tx, network)) ? network.networkHash : '';
  const nth = async (condition: string, value: string, limit: number): Promise<number | null> => {
    const row = await tx.get<{ created_at: number }>(
      `SELECT created_at FROM ${table} WHERE rate_hash = ? AND created_at > ? AND ${COUNTED[table]} AND ${condition}
       ORDER BY created_at DESC LIMIT 1 OFFSET ?`,
      [rateHash, since, value, limit - 1],
    );
    return row?.created_at ?? null;
  };
  const inTheWay =
    share === ''
      ? ((await nth("share = '' AND network_hash = ?", network.networkHash, perNetwork)) ??
        (await nth('share = ?', '', strangers)))
      : await nth('share = ?', share, perNetwork);
  return inTheWay === null ? { share } : { inTheWay };
}
