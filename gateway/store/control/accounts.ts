import type { LoginState } from './login-state.ts';
import { effectiveLoginState } from './login-state.ts';
import type { Reader, Row, Tx, Writer } from '../../../shared/store/engine/driver.ts';
import type { ProjectState } from './project-state.ts';
import { admissionOf, standingOf, type AddressHashes, type Standing } from './standing.ts';
import { byId, keepAnswer, markUsed, type LoginUse } from './login-rows.ts';

/** A person, identified by the email address that they sign in with. */
export interface AccountRow extends Row {
  id: string;
  /** Sealed. */
  address: Uint8Array;
  /** Keyed hash: finds an address without revealing it. */
  address_hash: string;
  created_at: string;
}

/** An account to add; an imported one gets its mailbox at the next start. */
export interface NewAccount extends AccountRow {
  mailbox_hash: string | null;
}

export interface OwnedProject extends Row {
  id: string;
  slug: string;
  name: string;
  created_at: string;
}

/** An account's project that is reserved but not confirmed. */
export interface UnfinishedProject extends Row {
  id: string;
  account_id: string;
  /** The account's address, sealed. */
  address: Uint8Array;
}

/** A project and its account's sealed address; null if no account owns it. */
export interface ListedProject extends OwnedProject {
  state: Exclude<ProjectState, 'reserved' | 'deleting'>;
  moved_to: string | null;
  account_id: string | null;
  address: Uint8Array | null;
}

interface ProjectReservation {
  readonly id: string;
  readonly name: string;
  /** The project gets the first free one. */
  readonly slugs: readonly string[];
  readonly createdAt: string;
  /** The maximum number of projects per account. */
  readonly projectsMax: number;
  /** Whether the settings let a guest found one. */
  readonly isAllowed: (account: AccountRow) => boolean;
}

/** The result of a reservation: the reserved slug, or the reason for the refusal. */
type Reservation =
  | { readonly outcome: 'reserved'; readonly slug: string; readonly account: AccountRow }
  | { readonly outcome: 'limit_reached' | 'slug_taken' | 'guest' }
  | { readonly outcome: 'refused'; readonly state: Exclude<LoginState, 'confirmed'> };

/** Who joins a project; null if their mailbox has an account under another spelling of the address. */
export type JoiningAccount = { readonly account: AccountRow; readonly isNew: boolean } | null;

/** Whether the account `?1` is a member of `project`. */
export const IS_MEMBER = `EXISTS (SELECT 1 FROM membership JOIN account ON account.address_hash = membership.address_hash
  WHERE membership.project_id = project.id AND account.id = ?1)`;
const ACCOUNT = 'id, address, address_hash, created_at';

/** Accounts and their projects, in the control database. */
export class AccountStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  standing(hashes: AddressHashes): Promise<Standing> {
    return this.#reader.read((tx) => standingOf(tx, hashes));
  }

  /** Whether anybody has an account or is invited to one. */
  async areAny(): Promise<boolean> {
    const { isFirst } = await this.standing({ address_hash: '', mailbox_hash: '' });
    return !isFirst;
  }

  /** Accounts that an earlier release made, or that were imported: their mailboxes aren't known yet. */
  withoutMailbox(): Promise<Pick<AccountRow, 'id' | 'address'>[]> {
    return this.#reader.read((tx) =>
      tx.all<Pick<AccountRow, 'id' | 'address'>>(
        'SELECT id, address FROM account WHERE mailbox_hash IS NULL',
      ),
    );
  }

  async setMailbox(id: string, mailboxHash: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put('UPDATE account SET mailbox_hash = ? WHERE id = ?', [mailboxHash, id]),
    );
  }

  find(id: string): Promise<AccountRow | undefined> {
    return this.#reader.read((tx) =>
      tx.get<AccountRow>(`SELECT ${ACCOUNT} FROM account WHERE id = ?`, [id]),
    );
  }

  /**
   * The account of somebody who is invited to a project; adds `fresh` if there is none. It is a guest's, who can't found
   * projects, unless they might have signed up by themselves.
   */
  forJoining(fresh: NewAccount, isAllowed: boolean): Promise<JoiningAccount> {
    return this.#writer.write(async (tx) => {
      const { address_hash, mailbox_hash } = fresh;
      const standing = await standingOf(tx, { address_hash, mailbox_hash: mailbox_hash ?? '' });
      const admission = admissionOf(standing, isAllowed);
      if (admission === 'other_spelling') return null;
      const id = await addAccount(tx, fresh, { isGuest: admission !== 'welcome' });
      return { account: await accountOf(tx, id), isNew: !standing.hasAccount };
    });
  }

  /** Returns the projects that an account owns or is a member of, the oldest first, except reserved ones and those being deleted. */
  projectsOf(accountId: string): Promise<OwnedProject[]> {
    return this.#reader.read((tx) =>
      tx.all<OwnedProject>(
        `SELECT id, slug, name, created_at FROM project
         WHERE state NOT IN ('reserved', 'deleting') AND (account_id = ?1 OR ${IS_MEMBER}) ORDER BY created_at, id`,
        [accountId],
      ),
    );
  }

  /** Returns up to `limit` projects, except reserved ones and those being deleted: the oldest first, after `afterId` or from the start. */
  listProjects(limit: number, afterId: string | null): Promise<ListedProject[]> {
    return this.#reader.read((tx) =>
      tx.all<ListedProject>(
        `SELECT project.id, slug, name, project.created_at, state, moved_to, account_id, address
         FROM project LEFT JOIN account ON account.id = account_id
         WHERE state NOT IN ('reserved', 'deleting') AND (?1 IS NULL OR (project.created_at, project.id) > (SELECT created_at, id FROM project WHERE id = ?1))
         ORDER BY project.created_at, project.id LIMIT ?2`,
        [afterId, limit],
      ),
    );
  }

  /**
   * Uses up a confirmed sign-in and reserves a project for its account. One transaction, so that one sign-in makes
   * one project.
   */
  reserveProject(use: LoginUse, wanted: ProjectReservation): Promise<Reservation> {
    return this.#writer.write(async (tx): Promise<Reservation> => {
      const login = await byId(tx, use.idHash);
      const state = login ? effectiveLoginState(login, use.now) : 'expired';
      if (state !== 'confirmed') return { outcome: 'refused', state };
      const account = await accountOf(tx, login?.account_id ?? '');
      if (!(await mayFound(tx, account, wanted))) return { outcome: 'guest' };
      const owned = await tx.get<{ count: number }>(
        "SELECT count(*) AS count FROM project WHERE account_id = ? AND state NOT IN ('moved', 'deleting')",
        [account.id],
      );
      if ((owned?.count ?? 0) >= wanted.projectsMax) return { outcome: 'limit_reached' };
      const slug = await firstFree(tx, wanted.slugs);
      if (slug === null) return { outcome: 'slug_taken' };
      await tx.put(
        "INSERT INTO project (id, slug, name, state, created_at, account_id) VALUES (?, ?, ?, 'reserved', ?, ?)",
        [wanted.id, slug, wanted.name, wanted.createdAt, account.id],
      );
      await markUsed(tx, use);
      return { outcome: 'reserved', slug, account };
    });
  }

  /** Confirms a finished project and stores the sealed answer for a repeat of the call. */
  async confirmProject(
    id: string,
    kept: { readonly idHash: string; readonly answer: Uint8Array } | null,
  ): Promise<void> {
    await this.#writer.write(async (tx) => {
      await tx.put("UPDATE project SET state = 'active' WHERE id = ? AND state = 'reserved'", [id]);
      if (kept) await keepAnswer(tx, kept.idHash, kept.answer);
    });
  }

  /** Returns reserved projects that nobody confirmed, of one account or of all. */
  unfinished(accountId: string | null = null): Promise<UnfinishedProject[]> {
    return this.#reader.read((tx) =>
      tx.all<UnfinishedProject>(
        `SELECT project.id, account_id, address FROM project JOIN account ON account.id = account_id
         WHERE state = 'reserved' AND account_id = coalesce(?, account_id) ORDER BY project.id`,
        [accountId],
      ),
    );
  }
}

/**
 * Returns the id of the account with the same address; adds `fresh` if there is no such account, and uses up an
 * invitation to it.
 */
export async function addAccount(
  tx: Tx,
  fresh: NewAccount,
  { isGuest = false }: { readonly isGuest?: boolean } = {},
): Promise<string> {
  const known = await tx.get<{ id: string }>('SELECT id FROM account WHERE address_hash = ?', [
    fresh.address_hash,
  ]);
  if (known) return known.id;
  await tx.put(
    `INSERT INTO account (${ACCOUNT}, mailbox_hash, is_guest) VALUES (?, ?, ?, ?, ?, ?)`,
    [
      fresh.id,
      fresh.address,
      fresh.address_hash,
      fresh.created_at,
      fresh.mailbox_hash,
      isGuest ? 1 : 0,
    ],
  );
  await tx.put('DELETE FROM invitation WHERE mailbox_hash = ?', [fresh.mailbox_hash]);
  return fresh.id;
}

/** A guest may once the operator has invited them, which uses up the invitation, or the settings allow it. */
async function mayFound(
  tx: Tx,
  account: AccountRow,
  { isAllowed }: ProjectReservation,
): Promise<boolean> {
  const guest = await tx.get<{ mailbox_hash: string }>(
    'SELECT mailbox_hash FROM account WHERE id = ? AND is_guest = 1',
    [account.id],
  );
  if (!guest || isAllowed(account)) return true;
  const invited = await tx.run('DELETE FROM invitation WHERE mailbox_hash = ?', [
    guest.mailbox_hash,
  ]);
  if (invited > 0) await tx.put('UPDATE account SET is_guest = 0 WHERE id = ?', [account.id]);
  return invited > 0;
}

async function accountOf(tx: Tx, id: string): Promise<AccountRow> {
  const account = await tx.get<AccountRow>(`SELECT ${ACCOUNT} FROM account WHERE id = ?`, [id]);
  if (!account) throw new Error('A confirmed sign-in has no account.');
  return account;
}

async function firstFree(tx: Tx, slugs: readonly string[]): Promise<string | null> {
  for (const slug of slugs) {
    if (!(await tx.get('SELECT 1 AS taken FROM project WHERE slug = ?', [slug]))) return slug;
  }
  return null;
}
