import type { LoginState } from './login-state.ts';
import type { Row, Tx } from '../../../shared/store/engine/driver.ts';

/** A stored sign-in; it holds only hashes of its secrets. */
export interface LoginRow extends Row {
  id_hash: string;
  link_hash: string;
  user_code: string;
  /** Sealed. */
  address: Uint8Array;
  address_hash: string;
  rate_hash: string;
  /** As `a***@example.com`. */
  masked: string;
  /** JSON. */
  client: string;
  state: Exclude<LoginState, 'expired'>;
  /** Set by the confirmation. */
  account_id: string | null;
  repeat_hash: string | null;
  /** Sealed. */
  answer: Uint8Array | null;
  created_at: number;
  expires_at: number;
  /** How often another code was typed than the terminal's. */
  wrong_codes: number;
}

/** A use of a confirmed sign-in; only the first one counts. */
export interface LoginUse {
  readonly idHash: string;
  /** Distinguishes a repeat of this use from another use. */
  readonly repeatHash: string | null;
  readonly now: number;
}

const COLUMNS =
  'id_hash, link_hash, user_code, address, address_hash, rate_hash, masked, client, state, account_id, repeat_hash, answer, created_at, expires_at, wrong_codes';

export function byId(tx: Tx, idHash: string): Promise<LoginRow | undefined> {
  return tx.get<LoginRow>(`SELECT ${COLUMNS} FROM login WHERE id_hash = ?`, [idHash]);
}

export function byLink(tx: Tx, linkHash: string): Promise<LoginRow | undefined> {
  return tx.get<LoginRow>(`SELECT ${COLUMNS} FROM login WHERE link_hash = ?`, [linkHash]);
}

export async function markUsed(tx: Tx, { idHash, repeatHash }: LoginUse): Promise<void> {
  await tx.put("UPDATE login SET state = 'used', repeat_hash = ? WHERE id_hash = ?", [
    repeatHash,
    idHash,
  ]);
}

/** Stores the sealed answer for a repeat of the same call. */
export async function keepAnswer(tx: Tx, idHash: string, answer: Uint8Array): Promise<void> {
  await tx.put('UPDATE login SET answer = ? WHERE id_hash = ?', [answer, idHash]);
}
