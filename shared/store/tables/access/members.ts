import type { Role } from '../../../rules/roles.ts';
import type { Row, Tx } from '../../engine/driver.ts';

type MemberStatus = 'asked' | 'invited' | 'active' | 'removed';

export interface MemberRow extends Row {
  id: string;
  role: Role;
  status: MemberStatus;
  /** Null until they have joined, and on a machine where nobody signs in. */
  account_id: string | null;
  /** Where they are asked; null for a role that decides nothing. */
  channel_id: string | null;
  /** Sealed; null if only the channel has it. */
  address: Uint8Array | null;
  /** A keyed hash, which finds an address without revealing it. */
  address_hash: string | null;
  /** Such as `a***@example.com`. */
  masked: string | null;
  /** The key, channel or member that invited them; null for who founded the project. */
  invited_by: string | null;
  created_at: string;
  joined_at: string | null;
  /** When the newest link was made, in milliseconds. */
  token_at: number | null;
  /** When it expires. */
  expires_at: number | null;
}

/** A person's address, sealed for their member row. */
interface MemberAddress {
  readonly address: Uint8Array;
  readonly addressHash: string;
  readonly masked: string;
}

const COLUMNS = `member.id AS id, role, member.status AS status, account_id, channel_id, member.address AS address,
  coalesce(member.address_hash, channel.address_hash) AS address_hash, coalesce(member.masked, channel.masked) AS masked,
  invited_by, member.created_at AS created_at, joined_at, token_at, expires_at`;
const FROM =
  "FROM member LEFT JOIN channel ON channel.id = channel_id AND channel.status <> 'removed'";

/** The people who share a project. */
export class MemberRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** All members except removed ones, by age. */
  list(): Promise<MemberRow[]> {
    return this.#tx.all<MemberRow>(
      `SELECT ${COLUMNS} ${FROM} WHERE member.status <> 'removed' ORDER BY member.id`,
    );
  }

  /** A member that nobody has removed. */
  find(id: string): Promise<MemberRow | undefined> {
    return this.#where('member.id = ?', id);
  }

  async findByAddress(addressHash: string): Promise<MemberRow | undefined> {
    return (
      (await this.#where('member.address_hash = ?', addressHash)) ??
      (await this.#where('channel.address_hash = ?', addressHash))
    );
  }

  findByAccount(accountId: string): Promise<MemberRow | undefined> {
    return this.#where('account_id = ?', accountId);
  }

  findByChannel(channelId: string): Promise<MemberRow | undefined> {
    return this.#where('channel_id = ?', channelId);
  }

  #where(condition: string, value: string): Promise<MemberRow | undefined> {
    return this.#tx.get<MemberRow>(
      `SELECT ${COLUMNS} ${FROM} WHERE ${condition} AND member.status <> 'removed'`,
      [value],
    );
  }

  async insert(row: MemberRow): Promise<void> {
    await this.#tx.put(
      `INSERT INTO member (id, role, status, account_id, channel_id, address, address_hash, masked, invited_by, created_at, joined_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        row.id,
        row.role,
        row.status,
        row.account_id,
        row.channel_id,
        row.address,
        row.address_hash,
        row.masked,
        row.invited_by,
        row.created_at,
        row.joined_at,
      ],
    );
  }

  async setAccount(id: string, accountId: string): Promise<void> {
    await this.#tx.put('UPDATE member SET account_id = ? WHERE id = ?', [accountId, id]);
  }

  async setAddress(id: string, to: MemberAddress): Promise<void> {
    await this.#tx.put('UPDATE member SET address = ?, address_hash = ?, masked = ? WHERE id = ?', [
      to.address,
      to.addressHash,
      to.masked,
      id,
    ]);
  }

  /** A link that replaces any earlier one. */
  async setToken(
    id: string,
    token: { readonly hash: string; readonly expiresAt: number; readonly now: number },
  ): Promise<void> {
    await this.#tx.put(
      "UPDATE member SET status = 'invited', token_hash = ?, token_at = ?, expires_at = ? WHERE id = ? AND status IN ('asked', 'invited')",
      [token.hash, token.now, token.expiresAt, id],
    );
  }

  /** The invitation of a link that is still good. */
  async byToken(tokenHash: string, now: number): Promise<MemberRow | undefined> {
    const found = await this.#where('token_hash = ?', tokenHash);
    return found?.status === 'invited' && (found.expires_at ?? 0) > now ? found : undefined;
  }

  async join(id: string, accountId: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE member SET status = 'active', account_id = ?, joined_at = ?, token_hash = NULL, token_at = NULL, expires_at = NULL WHERE id = ?",
      [accountId, nowIso, id],
    );
  }

  async setChannel(id: string, channelId: string | null): Promise<void> {
    await this.#tx.put('UPDATE member SET channel_id = ? WHERE id = ?', [channelId, id]);
  }

  async setRole(id: string, role: Role): Promise<void> {
    await this.#tx.put('UPDATE member SET role = ? WHERE id = ?', [role, id]);
  }

  /** Also deletes the address. */
  async remove(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE member SET status = 'removed', removed_at = ?, account_id = NULL, channel_id = NULL, address = NULL, address_hash = NULL, masked = NULL, token_hash = NULL, token_at = NULL, expires_at = NULL WHERE id = ?",
      [nowIso, id],
    );
  }

  /** When the `count`-th newest member was added, counting removed ones; null if there are fewer. */
  async addedBefore(count: number): Promise<string | null> {
    const row = await this.#tx.get<{ created_at: string }>(
      'SELECT created_at FROM member ORDER BY id DESC LIMIT 1 OFFSET ?',
      [count - 1],
    );
    return row?.created_at ?? null;
  }

  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get(
      'SELECT min(expires_at) AS due FROM member WHERE expires_at IS NOT NULL',
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  async expired(now: number, limit: number): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(
      'SELECT id FROM member WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
      [now, limit],
    );
    return rows.map(({ id }) => id);
  }
}
