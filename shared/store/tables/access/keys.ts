import type { Scope } from '../../../lib/scopes.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/** A key as callers see it; the secret itself is never stored. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly last4: string;
  readonly scopes: Scope[];
  /** Null for the whole disk. */
  readonly disk_prefixes: string[] | null;
  readonly created_at: string;
  readonly created_by: string | null;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** The host of the OAuth client that the key belongs to; null for other keys. */
  readonly client: string | null;
  /** When the current secret ends although the key doesn't; null if it never does. */
  readonly secret_expires_at: string | null;
}

interface KeyRow extends Row {
  id: string;
  name: string;
  last4: string;
  scopes: string;
  disk_prefixes: string | null;
  created_at: string;
  created_by: string | null;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  client: string | null;
  secret_expires_at: string | null;
}

/** A key that nobody has used yet. */
type NewKey = Omit<KeyRecord, 'last_used_at' | 'revoked_at' | 'client' | 'secret_expires_at'> & {
  readonly hash: string;
  readonly client?: string | null;
};

/** The agent that a key announced with session_hello, and when. */
export interface SessionRecord {
  readonly agent: string;
  readonly platform: string;
  readonly at: string;
}

/** The record of a key that a caller presented. */
export interface FoundKey {
  readonly key: KeyRecord | null;
  /** Hash of the secret that they presented. */
  readonly secretHash: string;
  /** The key's latest announcement, of any age. */
  readonly session: SessionRecord | null;
  /** The MCP address that an OAuth client has the key for, as a URL; null for any other key. */
  readonly resource: string | null;
  /** The secret was replaced, and works for a while yet. */
  readonly isPrevious: boolean;
}

const COLUMNS =
  'id, name, last4, scopes, disk_prefixes, created_at, created_by, last_used_at, expires_at, revoked_at, client, secret_expires_at';

const BY_HASH = `SELECT ${COLUMNS} FROM key WHERE hash = ?`;
const BY_ID = `SELECT ${COLUMNS} FROM key WHERE id = ?`;

/** Keys that end by a time of theirs. An app that hasn't brought its code yet has made nothing. */
const IN_USE = `revoked_at IS NULL AND expires_at IS NOT NULL AND (client IS NULL
  OR EXISTS (SELECT 1 FROM oauth_grant WHERE key_id = key.id AND family_hash IS NOT NULL))`;

/** Keys and the sessions they announced. */
export class KeyRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Finds a key by its secret's hash. */
  async findByHash(hash: string): Promise<KeyRecord | null> {
    const row = await this.#tx.get<KeyRow>(BY_HASH, [hash]);
    return row ? toRecord(row) : null;
  }

  /** Finds a key by the hash of its previous secret, while that secret is still valid. */
  async findByPreviousHash(hash: string, nowIso: string): Promise<KeyRecord | null> {
    const row = await this.#tx.get<KeyRow>(
      `SELECT ${COLUMNS} FROM key WHERE previous_hash = ? AND previous_valid_until > ?`,
      [hash, nowIso],
    );
    return row ? toRecord(row) : null;
  }

  /** Finds a key by its current or previous secret, with its latest announcement. */
  async present(hash: string, nowIso: string): Promise<FoundKey> {
    const { key, isPrevious } = await this.findBySecret(hash, nowIso);
    const session = key && (await this.session(key.id));
    const resource = key && key.client !== null ? await this.#resource(key.id) : null;
    return { key, secretHash: hash, session, resource, isPrevious };
  }

  /** Finds a key by the hash of its current or previous secret. */
  async findBySecret(hash: string, nowIso: string): Promise<Pick<FoundKey, 'key' | 'isPrevious'>> {
    const current = await this.findByHash(hash);
    if (current) return { key: current, isPrevious: false };
    return { key: await this.findByPreviousHash(hash, nowIso), isPrevious: true };
  }

  async #resource(id: string): Promise<string | null> {
    const sql = 'SELECT resource FROM oauth_grant WHERE key_id = ?';
    const row = await this.#tx.get<{ resource: string } & Row>(sql, [id]);
    return row?.resource ?? null;
  }

  async find(id: string): Promise<KeyRecord | null> {
    const row = await this.#tx.get<KeyRow>(BY_ID, [id]);
    return row ? toRecord(row) : null;
  }

  /** Ordered by id, which is by age. */
  async page(afterId: string, limit: number): Promise<KeyRecord[]> {
    const rows = await this.#tx.all<KeyRow>(
      `SELECT ${COLUMNS} FROM key WHERE id > ? ORDER BY id LIMIT ?`,
      [afterId, limit],
    );
    return rows.map(toRecord);
  }

  /** Keys that are neither revoked nor expired. */
  async active(nowIso: string): Promise<KeyRecord[]> {
    const rows = await this.#tx.all<KeyRow>(
      `SELECT ${COLUMNS} FROM key WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
      [nowIso],
    );
    return rows.map(toRecord);
  }

  /** When the next key ends by itself, in milliseconds. */
  async nextEnd(): Promise<number | null> {
    const row = await this.#tx.get<{ due: string | null }>(
      `SELECT min(expires_at) AS due FROM key WHERE ${IN_USE}`,
    );
    return row?.due ? Date.parse(row.due) : null;
  }

  /** Keys whose time is up, and which nobody has ended yet. */
  async over(nowIso: string, limit: number): Promise<KeyRecord[]> {
    const rows = await this.#tx.all<KeyRow>(
      `SELECT ${COLUMNS} FROM key WHERE ${IN_USE} AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
      [nowIso, limit],
    );
    return rows.map(toRecord);
  }

  /** Keys that aren't revoked and were made by one of these, or by a key that was. */
  async madeBy(makers: readonly string[]): Promise<KeyRecord[]> {
    const rows = await this.#tx.all<KeyRow>(
      `WITH RECURSIVE made (made_id) AS (
         SELECT id FROM key WHERE created_by IN (SELECT value FROM json_each(?))
         UNION SELECT key.id FROM key JOIN made ON key.created_by = made_id)
       SELECT ${COLUMNS} FROM key WHERE id IN (SELECT made_id FROM made) AND revoked_at IS NULL ORDER BY id`,
      [JSON.stringify(makers)],
    );
    return rows.map(toRecord);
  }

  /** The app's key that this key is, or that made it, perhaps over other keys; null if no app did. */
  async appBehind(id: string): Promise<KeyRecord | null> {
    const row = await this.#tx.get<KeyRow>(
      `WITH RECURSIVE maker (maker_id) AS (
         SELECT ? UNION SELECT created_by FROM key JOIN maker ON id = maker_id)
       SELECT ${COLUMNS} FROM key WHERE id IN (SELECT maker_id FROM maker) AND client IS NOT NULL LIMIT 1`,
      [id],
    );
    return row ? toRecord(row) : null;
  }

  async setScopes(id: string, scopes: readonly Scope[]): Promise<void> {
    await this.#tx.put('UPDATE key SET scopes = ? WHERE id = ?', [JSON.stringify(scopes), id]);
  }

  async insert(key: NewKey): Promise<void> {
    await this.#tx.put(
      'INSERT INTO key (id, name, hash, last4, scopes, disk_prefixes, created_at, created_by, expires_at, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        key.id,
        key.name,
        key.hash,
        key.last4,
        JSON.stringify(key.scopes),
        key.disk_prefixes && JSON.stringify(key.disk_prefixes),
        key.created_at,
        key.created_by,
        key.expires_at,
        key.client ?? null,
      ],
    );
  }

  async revoke(id: string, nowIso: string): Promise<void> {
    await this.#tx.put('UPDATE key SET revoked_at = ?, previous_hash = NULL WHERE id = ?', [
      nowIso,
      id,
    ]);
  }

  /** Sets a new secret; the previous one works until `previousUntil`. */
  async rotate(
    id: string,
    secret: { readonly hash: string; readonly last4: string; readonly previousUntil: string },
  ): Promise<void> {
    await this.#tx.put(
      'UPDATE key SET previous_hash = hash, previous_valid_until = ?, hash = ?, last4 = ? WHERE id = ?',
      [secret.previousUntil, secret.hash, secret.last4, id],
    );
  }

  /** Like `rotate`, for a key whose secrets end on their own. */
  async renew(
    id: string,
    secret: Parameters<KeyRepository['rotate']>[1] & {
      readonly secretExpiresAt: string;
      readonly expiresAt: string;
    },
  ): Promise<void> {
    await this.rotate(id, secret);
    await this.#tx.put('UPDATE key SET secret_expires_at = ?, expires_at = ? WHERE id = ?', [
      secret.secretExpiresAt,
      secret.expiresAt,
      id,
    ]);
  }

  /** Never moves the time back, because gateways report uses late and out of order. */
  async touch(id: string, usedAtIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE key SET last_used_at = max(coalesce(last_used_at, ''), ?) WHERE id = ?",
      [usedAtIso, id],
    );
  }

  /** The key's latest announcement, of any age. */
  async session(keyId: string): Promise<SessionRecord | null> {
    const row = await this.#tx.get('SELECT agent, platform, at FROM session WHERE key_id = ?', [
      keyId,
    ]);
    return row ? (row as unknown as SessionRecord) : null;
  }

  async hello(keyId: string, session: SessionRecord): Promise<void> {
    await this.#tx.put(
      'INSERT INTO session (key_id, agent, platform, at) VALUES (?, ?, ?, ?) ON CONFLICT (key_id) DO UPDATE SET agent = excluded.agent, platform = excluded.platform, at = excluded.at',
      [keyId, session.agent, session.platform, session.at],
    );
  }
}

function toRecord(row: KeyRow): KeyRecord {
  const { scopes, disk_prefixes: prefixes } = row;
  return {
    ...row,
    scopes: JSON.parse(scopes) as Scope[],
    disk_prefixes: prefixes === null ? null : (JSON.parse(prefixes) as string[]),
  };
}
