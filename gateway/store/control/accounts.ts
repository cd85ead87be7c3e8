import type { LoginState } from './login-state.ts';
import { effectiveLoginState } from './login-state.ts';
import type { Reader, Row, Tx, Writer } from '../../../shared/store/driver.ts';
import type { ProjectState } from './project-state.ts';
import { byId, keepAnswer, markUsed, type LoginUse } from './login-rows.ts';

/** A person, known by the address they sign in with. */
export interface AccountRow extends Row {
  id: string;
  /** Sealed. */
  address: Uint8Array;
  /** Keyed: finds an address again without telling it. */
  address_hash: string;
  created_at: string;
}

/** A project of an account. */
export interface OwnedProject extends Row {
  id: string;
  slug: string;
  name: string;
  created_at: string;
}

/** A project that is reserved and not confirmed, with its account. */
export interface UnfinishedProject extends Row {
  id: string;
  account_id: string;
  /** Of the account, sealed. */
  address: Uint8Array;
}

/** A project with the address of its account, sealed; null where it has none. */
export interface ListedProject extends OwnedProject {
  state: Exclude<ProjectState, 'reserved'>;
  moved_to: string | null;
  account_id: string | null;
  address: Uint8Array | null;
}

interface Wanted {
  readonly id: string;
  readonly name: string;
  /** The first that is free is taken. */
  readonly slugs: readonly string[];
  readonly createdAt: string;
  /** So many projects an account may have. */
  readonly projectsMax: number;
}

/** What came of a wish for a project: the slug that is reserved for it, or why there is none. */
type Reservation =
  | { readonly outcome: 'reserved'; readonly slug: string; readonly account: AccountRow }
  | { readonly outcome: 'limit_reached' | 'slug_taken' }
  | { readonly outcome: 'refused'; readonly state: Exclude<LoginState, 'confirmed'> };

const ACCOUNT = 'id, address, address_hash, created_at';

/** Accounts and their projects, in the control database. */
export class AccountStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** The oldest first, without those that are still being made. */
  projectsOf(accountId: string): Promise<OwnedProject[]> {
    return this.#reader.read((tx) =>
      tx.all<OwnedProject>(
        "SELECT id, slug, name, created_at FROM project WHERE account_id = ? AND state <> 'reserved' ORDER BY created_at, id",
        [accountId],
      ),
    );
  }

  /** All projects but those still being made, the oldest first: so many behind the one with this id, or from the start. */
  listProjects(limit: number, afterId: string | null): Promise<ListedProject[]> {
    return this.#reader.read((tx) =>
      tx.all<ListedProject>(
        `SELECT project.id, slug, name, project.created_at, state, moved_to, account_id, address
         FROM project LEFT JOIN account ON account.id = account_id
         WHERE state <> 'reserved' AND (?1 IS NULL OR (project.created_at, project.id) > (SELECT created_at, id FROM project WHERE id = ?1))
         ORDER BY project.created_at, project.id LIMIT ?2`,
        [afterId, limit],
      ),
    );
  }

  /** Uses a confirmed sign-in up, and reserves a project for its account; in one transaction, so that it is one project. */
  reserveProject(use: LoginUse, wanted: Wanted): Promise<Reservation> {
    return this.#writer.write(async (tx): Promise<Reservation> => {
      const login = await byId(tx, use.idHash);
      const state = login ? effectiveLoginState(login, use.now) : 'expired';
      if (state !== 'confirmed') return { outcome: 'refused', state };
      const account = await accountOf(tx, login?.account_id ?? '');
      const owned = await tx.get<{ count: number }>(
        "SELECT count(*) AS count FROM project WHERE account_id = ? AND state <> 'moved'",
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

  /** Confirms a project that is made, and keeps the answer about it for a repeat of the call. */
  async confirmProject(
    id: string,
    kept: { readonly idHash: string; readonly answer: Uint8Array } | null,
  ): Promise<void> {
    await this.#writer.write(async (tx) => {
      await tx.put("UPDATE project SET state = 'active' WHERE id = ? AND state = 'reserved'", [id]);
      if (kept) await keepAnswer(tx, kept.idHash, kept.answer);
    });
  }

  /** Projects of accounts that were reserved and never confirmed; of one account, or of all. */
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

/** The id of the account with the address of a fresh one: that of the fresh one unless there was one before. */
export async function addAccount(tx: Tx, fresh: AccountRow): Promise<string> {
  const known = await tx.get<{ id: string }>('SELECT id FROM account WHERE address_hash = ?', [
    fresh.address_hash,
  ]);
  if (known) return known.id;
  await tx.put(`INSERT INTO account (${ACCOUNT}) VALUES (?, ?, ?, ?)`, [
    fresh.id,
    fresh.address,
    fresh.address_hash,
    fresh.created_at,
  ]);
  return fresh.id;
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
