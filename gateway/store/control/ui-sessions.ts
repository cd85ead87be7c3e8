import type { Reader, Row, Tx, Writer } from '../../../shared/store/driver.ts';

/** Whom a link or a session of the web inbox stands for: a key of a project, or whoever has an address. */
interface HolderColumns extends Row {
  kind: 'key' | 'owner';
  project_id: string | null;
  key_id: string | null;
  /** SHA-256 of the secret that the key had. */
  key_hash: string | null;
  /** Of an owner, sealed. */
  address: Uint8Array | null;
}

export interface UiLinkRow extends HolderColumns {
  hash: string;
  /** Counts the links that were mailed to a mailbox; null for one that was not mailed. */
  rate_hash: string | null;
  created_at: number;
  expires_at: number;
  used: number;
}

export interface UiSessionRow extends HolderColumns {
  id_hash: string;
  created_at: number;
  expires_at: number;
  used_at: number;
}

/** At what time sessions hold, and since when they have to have been used for that. */
interface Holding {
  readonly now: number;
  readonly usedAfter: number;
}

/** How many mails a mailbox may be sent, and since when they count. */
interface MailLimit {
  readonly since: number;
  readonly max: number;
}

const LINK =
  'hash, kind, project_id, key_id, key_hash, address, rate_hash, created_at, expires_at, used';
const SESSION =
  'id_hash, kind, project_id, key_id, key_hash, address, created_at, expires_at, used_at';
/** Of one key: an agent that asks for ever more of them fills no disk. */
const SESSIONS_PER_KEY = 20;

/** Links into the web inbox and its sessions, in the control database: several gateways share them. */
export class UiSessionStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /**
   * Stores a link. With a limit, answers when the one was made that has to get old first, if so many were mailed already;
   * null when it is stored.
   */
  addLink(link: Omit<UiLinkRow, 'used'>, limit: MailLimit | null): Promise<number | null> {
    return this.#writer.write(async (tx) => {
      const now = link['created_at'] as number;
      await tidy(tx, now, limit?.since ?? 0);
      const inTheWay = limit && (await mailedBefore(tx, link['rate_hash'] as string, limit));
      if (inTheWay) return inTheWay;
      await tx.put(`INSERT INTO ui_link (${LINK}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`, [
        link['hash'] as string,
        link['kind'] as string,
        link['project_id'] as string | null,
        link['key_id'] as string | null,
        link['key_hash'] as string | null,
        link['address'] as Uint8Array | null,
        link['rate_hash'] as string | null,
        now,
        link['expires_at'] as number,
      ]);
      return null;
    });
  }

  /** Forgets a link whose mail did not go out. */
  async dropLink(hash: string): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM ui_link WHERE hash = ?', [hash]));
  }

  findLink(hash: string): Promise<UiLinkRow | undefined> {
    return this.#reader.read((tx) =>
      tx.get<UiLinkRow>(`SELECT ${LINK} FROM ui_link WHERE hash = ?`, [hash]),
    );
  }

  /** Uses a link up and begins its session, in one transaction. False when it was used before, or is too old. */
  useLink(hash: string, session: UiSessionRow): Promise<boolean> {
    return this.#writer.write(async (tx) => {
      const now = session.created_at;
      const link = await tx.get<UiLinkRow>(
        `SELECT ${LINK} FROM ui_link WHERE hash = ? AND used = 0 AND expires_at > ?`,
        [hash, now],
      );
      if (!link) return false;
      await tx.put('UPDATE ui_link SET used = 1 WHERE hash = ?', [hash]);
      await begin(tx, session);
      return true;
    });
  }

  /** One that has not expired. */
  find(idHash: string, now: number): Promise<UiSessionRow | undefined> {
    return this.#reader.read((tx) =>
      tx.get<UiSessionRow>(
        `SELECT ${SESSION} FROM ui_session WHERE id_hash = ? AND expires_at > ?`,
        [idHash, now],
      ),
    );
  }

  /** Those of the keys of a project, or of one of them, that hold; the last begun first. */
  ofKeys(
    projectId: string,
    keyId: string | null,
    { now, usedAfter }: Holding,
  ): Promise<UiSessionRow[]> {
    return this.#reader.read((tx) =>
      tx.all<UiSessionRow>(
        `SELECT ${SESSION} FROM ui_session WHERE project_id = ? AND key_id = coalesce(?, key_id)
         AND expires_at > ? AND used_at > ? ORDER BY created_at DESC, id_hash`,
        [projectId, keyId, now, usedAfter],
      ),
    );
  }

  /** Those of all owners here that hold: whose they are is sealed. */
  ofOwners({ now, usedAfter }: Holding): Promise<UiSessionRow[]> {
    return this.#reader.read((tx) =>
      tx.all<UiSessionRow>(
        `SELECT ${SESSION} FROM ui_session WHERE kind = 'owner' AND expires_at > ? AND used_at > ?
         ORDER BY created_at DESC, id_hash`,
        [now, usedAfter],
      ),
    );
  }

  async touch(idHash: string, now: number): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put('UPDATE ui_session SET used_at = ? WHERE id_hash = ?', [now, idHash]),
    );
  }

  async end(idHash: string): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM ui_session WHERE id_hash = ?', [idHash]));
  }

  /** The projects of the account with this address that can be used, the oldest first. */
  async projectsOf(addressHash: string): Promise<string[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<{ id: string }>(
        `SELECT project.id AS id FROM project JOIN account ON account.id = account_id
         WHERE address_hash = ? AND state NOT IN ('reserved', 'moved') ORDER BY project.created_at, project.id`,
        [addressHash],
      ),
    );
    return rows.map(({ id }) => id);
  }
}

async function tidy(tx: Tx, now: number, countedSince: number): Promise<void> {
  // Those of mails count for longer than they hold, and no link by a key may end that.
  await tx.put(
    'DELETE FROM ui_link WHERE expires_at <= ? AND (rate_hash IS NULL OR created_at <= ?)',
    [now, countedSince],
  );
  await tx.put('DELETE FROM ui_session WHERE expires_at <= ?', [now]);
}

async function mailedBefore(
  tx: Tx,
  rateHash: string,
  { since, max }: MailLimit,
): Promise<number | null> {
  const row = await tx.get<{ created_at: number }>(
    `SELECT created_at FROM ui_link WHERE rate_hash = ? AND created_at > ?
     ORDER BY created_at DESC LIMIT 1 OFFSET ?`,
    [rateHash, since, max - 1],
  );
  return row?.created_at ?? null;
}

async function begin(tx: Tx, session: UiSessionRow): Promise<void> {
  const { id_hash, kind, project_id, key_id, key_hash, address, created_at, expires_at } = session;
  await tx.put(`INSERT INTO ui_session (${SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    id_hash,
    kind,
    project_id,
    key_id,
    key_hash,
    address,
    created_at,
    expires_at,
    created_at,
  ]);
  await tx.put(
    `DELETE FROM ui_session WHERE id_hash IN
     (SELECT id_hash FROM ui_session WHERE key_id = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
    [key_id, SESSIONS_PER_KEY],
  );
}
