import type { Reader, Row, Tx, Writer } from '../../../shared/store/engine/driver.ts';
import {
  isKnownNetwork,
  learnNetwork,
  type LearnedNetwork,
  type NetworkOfAddress,
} from './known-networks.ts';
import { takeShare, type StartLimits } from './start-shares.ts';

/** The holder of a link or session of the web inbox: a project's key, or a person with an email address. */
interface HolderColumns extends Row {
  kind: 'key' | 'owner';
  project_id: string | null;
  key_id: string | null;
  /** SHA-256 of the key's secret at that time. */
  key_hash: string | null;
  /** The owner's address, sealed. */
  address: Uint8Array | null;
}

export interface UiLinkRow extends HolderColumns {
  hash: string;
  /** Counts mailed links per mailbox; null for a link that wasn't mailed. */
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

/** A session is valid if it expires after `now` and was last used after `usedAfter`. */
interface SessionWindow {
  readonly now: number;
  readonly usedAfter: number;
}

/** A link that is mailed to a mailbox counts against the share of the network that wants it. */
interface Mailing extends StartLimits {
  readonly network: NetworkOfAddress;
}

/** The network of the person who opened a mailed link, for the account with this address. */
interface Opening {
  readonly addressHash: string;
  readonly network: LearnedNetwork;
}

const LINK =
  'hash, kind, project_id, key_id, key_hash, address, rate_hash, created_at, expires_at, used';
const SESSION =
  'id_hash, kind, project_id, key_id, key_hash, address, created_at, expires_at, used_at';
/** Maximum sessions per key, so that an agent that keeps asking can't fill the disk. */
const SESSIONS_PER_KEY = 20;

/** Links and sessions of the web inbox, in the control database because several gateways share them. */
export class UiSessionStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /**
   * Stores a link. At the mail limit, returns the creation time (ms) of the link that must age first; null if it is
   * stored.
   */
  addLink(link: Omit<UiLinkRow, 'used'>, mailing: Mailing | null): Promise<number | null> {
    return this.#writer.write(async (tx) => {
      const now = link['created_at'] as number;
      await tidy(tx, now, mailing?.since ?? 0);
      const rateHash = link['rate_hash'] as string;
      const taken = mailing
        ? await takeShare(tx, 'ui_link', { rateHash, network: mailing.network }, mailing)
        : { share: '' };
      if ('inTheWay' in taken) return taken.inTheWay;
      const values = '?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?';
      await tx.put(`INSERT INTO ui_link (${LINK}, share, network_hash) VALUES (${values})`, [
        link['hash'] as string,
        link['kind'] as string,
        link['project_id'] as string | null,
        link['key_id'] as string | null,
        link['key_hash'] as string | null,
        link['address'] as Uint8Array | null,
        link['rate_hash'] as string | null,
        now,
        link['expires_at'] as number,
        taken.share,
        mailing?.network.networkHash ?? '',
      ]);
      return null;
    });
  }

  /** Deletes a link whose mail didn't go out. */
  async dropLink(hash: string): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM ui_link WHERE hash = ?', [hash]));
  }

  findLink(hash: string): Promise<UiLinkRow | undefined> {
    return this.#reader.read((tx) =>
      tx.get<UiLinkRow>(`SELECT ${LINK} FROM ui_link WHERE hash = ?`, [hash]),
    );
  }

  /** Whether the account with an address confirmed a sign-in from this network. */
  isKnown(network: NetworkOfAddress): Promise<boolean> {
    return this.#reader.read((tx) => isKnownNetwork(tx, network));
  }

  /** Uses up a link and starts its session, in one transaction. False if the link is used or expired. */
  useLink(hash: string, session: UiSessionRow, opening: Opening | null): Promise<boolean> {
    return this.#writer.write(async (tx) => {
      const now = session.created_at;
      const link = await tx.get<UiLinkRow>(
        `SELECT ${LINK} FROM ui_link WHERE hash = ? AND used = 0 AND expires_at > ?`,
        [hash, now],
      );
      if (!link) return false;
      await tx.put('UPDATE ui_link SET used = 1 WHERE hash = ?', [hash]);
      await begin(tx, session);
      if (opening) await learn(tx, opening, now);
      return true;
    });
  }

  /** Finds a session that hasn't expired. */
  find(idHash: string, now: number): Promise<UiSessionRow | undefined> {
    return this.#reader.read((tx) =>
      tx.get<UiSessionRow>(
        `SELECT ${SESSION} FROM ui_session WHERE id_hash = ? AND expires_at > ?`,
        [idHash, now],
      ),
    );
  }

  /** Returns the valid sessions of a project's keys, or of one key, the newest first. */
  ofKeys(
    projectId: string,
    keyId: string | null,
    { now, usedAfter }: SessionWindow,
  ): Promise<UiSessionRow[]> {
    return this.#reader.read((tx) =>
      tx.all<UiSessionRow>(
        `SELECT ${SESSION} FROM ui_session WHERE project_id = ? AND key_id = coalesce(?, key_id)
         AND expires_at > ? AND used_at > ? ORDER BY created_at DESC, id_hash`,
        [projectId, keyId, now, usedAfter],
      ),
    );
  }

  /** Returns the valid sessions of all owners, the newest first. Each row's owner is sealed. */
  ofOwners({ now, usedAfter }: SessionWindow): Promise<UiSessionRow[]> {
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

  /** Returns the usable projects that the reader of this address owns or is a member of, the oldest first. */
  async projectsOf(addressHash: string): Promise<string[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<{ id: string }>(
        `SELECT id FROM project WHERE state NOT IN ('reserved', 'moved') AND
           (account_id IN (SELECT id FROM account WHERE address_hash = ?1)
            OR id IN (SELECT project_id FROM membership WHERE address_hash = ?1))
         ORDER BY created_at, id`,
        [addressHash],
      ),
    );
    return rows.map(({ id }) => id);
  }
}

async function tidy(tx: Tx, now: number, countedSince: number): Promise<void> {
  // Mailed links count against the limit longer than they are valid, and a link made by a key must not shorten that.
  await tx.put(
    'DELETE FROM ui_link WHERE expires_at <= ? AND (rate_hash IS NULL OR created_at <= ?)',
    [now, countedSince],
  );
  await tx.put('DELETE FROM ui_session WHERE expires_at <= ?', [now]);
}

async function learn(tx: Tx, { addressHash, network }: Opening, now: number): Promise<void> {
  const account = await tx.get<{ id: string }>('SELECT id FROM account WHERE address_hash = ?', [
    addressHash,
  ]);
  if (account) await learnNetwork(tx, account.id, { ...network, now });
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
