import type { Row, Tx } from '../../engine/driver.ts';

/** A person's permission for an OAuth client. Its key has the scopes and the access token. */
export interface OAuthGrantRow extends Row {
  key_id: string;
  client_id: string;
  resource: string;
  redirect_uri: string;
  /** When the grant ends, if nobody ends it earlier: an ISO time. */
  ends_at: string;
  code_hash: string;
  /** PKCE S256. */
  code_challenge: string;
  code_expires_at: number;
  /** Of the secret that all refresh tokens of the grant share; null until the code is exchanged. */
  family_hash: string | null;
  /** Of the only refresh token that is valid. */
  refresh_hash: string | null;
}

type NewGrant = Omit<OAuthGrantRow, 'family_hash' | 'refresh_hash'>;

const COLUMNS =
  'key_id, client_id, resource, redirect_uri, ends_at, code_hash, code_challenge, code_expires_at, family_hash, refresh_hash';

/** Grants of OAuth clients. */
export class OAuthGrantRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(keyId: string): Promise<OAuthGrantRow | undefined> {
    return this.#tx.get<OAuthGrantRow>(`SELECT ${COLUMNS} FROM oauth_grant WHERE key_id = ?`, [
      keyId,
    ]);
  }

  findByCode(codeHash: string): Promise<OAuthGrantRow | undefined> {
    return this.#tx.get<OAuthGrantRow>(`SELECT ${COLUMNS} FROM oauth_grant WHERE code_hash = ?`, [
      codeHash,
    ]);
  }

  findByFamily(familyHash: string): Promise<OAuthGrantRow | undefined> {
    return this.#tx.get<OAuthGrantRow>(`SELECT ${COLUMNS} FROM oauth_grant WHERE family_hash = ?`, [
      familyHash,
    ]);
  }

  async insert(grant: NewGrant): Promise<void> {
    await this.#tx.put(
      `INSERT INTO oauth_grant (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)`,
      [
        grant['key_id'] as string,
        grant['client_id'] as string,
        grant['resource'] as string,
        grant['redirect_uri'] as string,
        grant['ends_at'] as string,
        grant['code_hash'] as string,
        grant['code_challenge'] as string,
        grant['code_expires_at'] as number,
      ],
    );
  }

  async setRefresh(
    keyId: string,
    { familyHash, refreshHash }: { readonly familyHash: string; readonly refreshHash: string },
  ): Promise<void> {
    await this.#tx.put(
      'UPDATE oauth_grant SET family_hash = ?, refresh_hash = ? WHERE key_id = ?',
      [familyHash, refreshHash, keyId],
    );
  }

  /** Returns the keys of grants whose code expired before anyone exchanged it. */
  async unused(now: number): Promise<string[]> {
    const rows = await this.#tx.all<{ key_id: string }>(
      'SELECT key_id FROM oauth_grant WHERE family_hash IS NULL AND code_expires_at <= ?',
      [now],
    );
    return rows.map(({ key_id }) => key_id);
  }

  /** Deletes a grant whose key never worked, and the key. */
  async drop(keyId: string): Promise<void> {
    await this.#tx.put('DELETE FROM oauth_grant WHERE key_id = ?', [keyId]);
    await this.#tx.put('DELETE FROM key WHERE id = ?', [keyId]);
  }
}
