import type { Tx } from '../../../shared/store/engine/driver.ts';

/** The keyed hashes that an address is found by. */
export interface AddressHashes {
  /** Of the address itself. */
  readonly address_hash: string;
  /** The same for all spellings that reach one mailbox in practice. */
  readonly mailbox_hash: string;
}

/** What the control database knows about an address that signs in. */
export interface Standing {
  readonly hasAccount: boolean;
  /** Another spelling of the address has one. */
  readonly sharesMailbox: boolean;
  readonly isInvited: boolean;
  /** Nobody has an account yet, and nobody is invited. */
  readonly isFirst: boolean;
}

export async function standingOf(
  tx: Tx,
  { address_hash, mailbox_hash }: AddressHashes,
): Promise<Standing> {
  const found = await tx.get<Record<'known' | 'shared' | 'invited' | 'occupied', number>>(
    `SELECT EXISTS (SELECT 1 FROM account WHERE address_hash = ?1) AS known,
       EXISTS (SELECT 1 FROM account WHERE mailbox_hash = ?2) AS shared,
       EXISTS (SELECT 1 FROM invitation WHERE mailbox_hash = ?2) AS invited,
       EXISTS (SELECT 1 FROM account) OR EXISTS (SELECT 1 FROM invitation) AS occupied`,
    [address_hash, mailbox_hash],
  );
  return {
    hasAccount: found?.known === 1,
    sharesMailbox: found?.shared === 1,
    isInvited: found?.invited === 1,
    isFirst: found?.occupied === 0,
  };
}

/** Whether this address may sign in, or why not. */
export type Admission = 'welcome' | 'other_spelling' | 'by_invitation';

/** `isAllowed`: the settings let this address have an account. */
export function admissionOf(standing: Standing, isAllowed: boolean): Admission {
  if (standing.hasAccount) return 'welcome';
  if (standing.sharesMailbox) return 'other_spelling';
  return isAllowed || standing.isInvited || standing.isFirst ? 'welcome' : 'by_invitation';
}
