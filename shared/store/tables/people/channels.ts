import type { Row, Tx } from '../../engine/driver.ts';

export type ChannelKind = 'email' | 'telegram';
type ChannelStatus = 'added' | 'verified' | 'active' | 'removed';

export interface ChannelRow extends Row {
  id: string;
  kind: ChannelKind;
  label: string;
  status: ChannelStatus;
  owner: number;
  /** Sealed: an email address, or a Telegram chat and user as JSON. */
  address: Uint8Array | null;
  /** A keyed hash, which finds an address without revealing it. */
  address_hash: string | null;
  /** Such as `a***@example.com`. */
  masked: string | null;
  created_at: string;
  created_by: string | null;
  verified_at: string | null;
  activated_at: string | null;
  last_used_at: string | null;
  /** The channel whose person an owner said this is, or itself for a person with no other; null if nobody said. */
  person_of: string | null;
}

const COLUMNS =
  'id, kind, label, status, owner, address, address_hash, masked, created_at, created_by, verified_at, activated_at, last_used_at';
const ALL_COLUMNS = `${COLUMNS}, person_of`;

/** The people of a project, as channels that reach them. */
export class ChannelRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** All channels except removed ones, the owner first. */
  list(): Promise<ChannelRow[]> {
    return this.#tx.all<ChannelRow>(
      `SELECT ${ALL_COLUMNS} FROM channel WHERE status <> 'removed' ORDER BY owner DESC, id`,
    );
  }

  /** A channel that nobody has removed. */
  find(id: string): Promise<ChannelRow | undefined> {
    return this.#tx.get<ChannelRow>(
      `SELECT ${ALL_COLUMNS} FROM channel WHERE id = ? AND status <> 'removed'`,
      [id],
    );
  }

  /** Also finds a removed channel, because its decisions remain on record. */
  findEver(id: string): Promise<ChannelRow | undefined> {
    return this.#tx.get<ChannelRow>(`SELECT ${ALL_COLUMNS} FROM channel WHERE id = ?`, [id]);
  }

  owner(): Promise<ChannelRow | undefined> {
    return this.#tx.get<ChannelRow>(
      `SELECT ${ALL_COLUMNS} FROM channel WHERE owner = 1 AND status <> 'removed'`,
    );
  }

  findByAddress(addressHash: string): Promise<ChannelRow | undefined> {
    return this.#tx.get<ChannelRow>(
      `SELECT ${ALL_COLUMNS} FROM channel WHERE address_hash = ? AND status <> 'removed'`,
      [addressHash],
    );
  }

  /** When the `count`-th newest channel was added, counting removed ones; null if there are fewer. */
  async addedBefore(count: number): Promise<string | null> {
    const row = await this.#tx.get<{ created_at: string }>(
      'SELECT created_at FROM channel ORDER BY id DESC LIMIT 1 OFFSET ?',
      [count - 1],
    );
    return row?.created_at ?? null;
  }

  /** Of a new channel nobody has said whose it is. */
  async insert(row: ChannelRow): Promise<void> {
    await this.#tx.put(
      `INSERT INTO channel (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        row.id,
        row.kind,
        row.label,
        row.status,
        row.owner,
        row.address,
        row.address_hash,
        row.masked,
        row.created_at,
        row.created_by,
        row.verified_at,
        row.activated_at,
        row.last_used_at,
      ],
    );
  }

  async setAddress(
    id: string,
    to: {
      readonly address: Uint8Array;
      readonly addressHash: string;
      readonly masked: string | null;
    },
  ): Promise<void> {
    await this.#tx.put(
      'UPDATE channel SET address = ?, address_hash = ?, masked = ? WHERE id = ?',
      [to.address, to.addressHash, to.masked, id],
    );
  }

  async setVerified(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE channel SET status = 'verified', verified_at = ? WHERE id = ? AND status = 'added'",
      [nowIso, id],
    );
  }

  async setActive(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE channel SET status = 'active', activated_at = ? WHERE id = ? AND status = 'verified'",
      [nowIso, id],
    );
  }

  async setPerson(id: string, personOf: string | null): Promise<void> {
    await this.#tx.put('UPDATE channel SET person_of = ? WHERE id = ?', [personOf, id]);
  }

  /** The channel is somebody else's now, so nobody knows whose the others are. */
  async forgetPerson(id: string): Promise<void> {
    await this.#tx.put('UPDATE channel SET person_of = NULL WHERE person_of = ?1 OR id = ?1', [id]);
  }

  /** Also deletes the address. */
  async remove(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE channel SET status = 'removed', removed_at = ?, address = NULL, address_hash = NULL, masked = NULL WHERE id = ?",
      [nowIso, id],
    );
    await this.#tx.put('DELETE FROM channel_token WHERE channel_id = ?', [id]);
  }

  /** Makes another channel the owner's. */
  async moveOwner(from: string, to: string): Promise<void> {
    await this.#tx.put('UPDATE channel SET owner = 0 WHERE id = ?', [from]);
    await this.#tx.put('UPDATE channel SET owner = 1 WHERE id = ?', [to]);
  }

  async touch(id: string, nowIso: string): Promise<void> {
    await this.#tx.put('UPDATE channel SET last_used_at = ? WHERE id = ?', [nowIso, id]);
  }

  /** Replaces earlier links. */
  async setToken(
    channelId: string,
    token: { readonly hash: string; readonly expiresAt: number; readonly now: number },
  ): Promise<void> {
    await this.#tx.put('DELETE FROM channel_token WHERE channel_id = ?', [channelId]);
    await this.#tx.put(
      'INSERT INTO channel_token (token_hash, channel_id, expires_at, created_at) VALUES (?, ?, ?, ?)',
      [token.hash, channelId, token.expiresAt, token.now],
    );
  }

  /** When the current link of an unverified channel was made; null if it has none. */
  async tokenMadeAt(channelId: string): Promise<number | null> {
    const row = await this.#tx.get(
      'SELECT max(created_at) AS at FROM channel_token WHERE channel_id = ?',
      [channelId],
    );
    return (row?.['at'] as number | null | undefined) ?? null;
  }

  /** The channel that this link verifies or has verified. */
  async byToken(tokenHash: string, now: number): Promise<ChannelRow | undefined> {
    const row = await this.#tx.get<{ channel_id: string }>(
      'SELECT channel_id FROM channel_token WHERE token_hash = ? AND expires_at > ?',
      [tokenHash, now],
    );
    return row && this.find(row.channel_id);
  }

  async nextTokenExpiry(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(expires_at) AS due FROM channel_token');
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  expiredTokens(
    now: number,
    limit: number,
  ): Promise<{ readonly token_hash: string; readonly channel_id: string }[]> {
    return this.#tx.all(
      'SELECT token_hash, channel_id FROM channel_token WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
      [now, limit],
    );
  }

  async deleteToken(tokenHash: string): Promise<void> {
    await this.#tx.put('DELETE FROM channel_token WHERE token_hash = ?', [tokenHash]);
  }
}
