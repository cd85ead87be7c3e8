import type { MadeKind } from '../../../rules/made-kinds.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/** Something that a maker made and that still works. */
export interface MadeRow extends Row {
  kind: MadeKind;
  id: string;
  /** What people call it: a name, an address, a path. */
  name: string;
  /** Of a member or a channel; null for other kinds. */
  status: string | null;
}

/** The makers, and every key that they made, over any number of other keys. Keys that have ended count: theirs goes on. */
const LINE = `WITH RECURSIVE line (id) AS (
  SELECT value FROM json_each(?1)
  UNION SELECT key.id FROM key JOIN line ON key.created_by = line.id)`;

/** Columns that name a maker. */
const MAKERS = [
  ['key', 'created_by'],
  ['channel', 'created_by'],
  ['route', 'created_by'],
  ['source', 'created_by'],
  ['source', 'secret_by'],
  ['member', 'invited_by'],
  ['browser', 'created_by'],
  ['callback_secret', 'created_by'],
  ['upload', 'key_id'],
] as const;

const MADE = `${LINE}
  SELECT 'key' AS kind, id, name, NULL AS status FROM key
    WHERE created_by IN (SELECT id FROM line) AND revoked_at IS NULL
      AND id NOT IN (SELECT value FROM json_each(?1))
  UNION ALL SELECT 'route', id, callback_url, NULL FROM route
    WHERE created_by IN (SELECT id FROM line) AND removed_at IS NULL AND enabled = 1
  UNION ALL SELECT CASE status WHEN 'active' THEN 'member' ELSE 'invitation' END, id, coalesce(masked, role), status
    FROM member WHERE invited_by IN (SELECT id FROM line) AND status <> 'removed'
  UNION ALL SELECT 'channel', id, coalesce(masked, label), status FROM channel
    WHERE created_by IN (SELECT id FROM line) AND status <> 'removed' AND owner = 0
      AND id NOT IN (SELECT channel_id FROM member WHERE channel_id IS NOT NULL)
  UNION ALL SELECT 'source', id, name, NULL FROM source
    WHERE (created_by IN (SELECT id FROM line) OR secret_by IN (SELECT id FROM line)) AND removed_at IS NULL
  UNION ALL SELECT 'request', id, coalesce(action, kind), NULL FROM request
    WHERE status = 'pending' AND expires_at > ?2 AND key_id IN (SELECT id FROM line)
  UNION ALL SELECT 'email', id, subject, NULL FROM email_batch
    WHERE id IN (SELECT batch_id FROM email_message WHERE status = 'queued') AND key_id IN (SELECT id FROM line)
  UNION ALL SELECT 'file_link', id, path, NULL FROM file_link
    WHERE key_id IN (SELECT id FROM line) AND expires_at > ?2
  UNION ALL SELECT 'upload', id, path, NULL FROM upload
    WHERE key_id IN (SELECT id FROM line) AND expires_at > ?2
  UNION ALL SELECT 'browser', id, name, NULL FROM browser WHERE created_by IN (SELECT id FROM line)
  UNION ALL SELECT 'callback_secret', 'callback_secret', 'signs callbacks of requests', NULL FROM callback_secret
    WHERE created_by IN (SELECT id FROM line)`;

/** Who made what. A maker is a key, or a person: by the id of their member row, account or channel. */
export class MakerRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The makers themselves, and the keys that they made, over any number of other keys. */
  async line(makers: readonly string[]): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(`${LINE} SELECT id FROM line`, [
      JSON.stringify(makers),
    ]);
    return rows.map(({ id }) => id);
  }

  /** What they and those keys made and still works, by kind. */
  made(makers: readonly string[], now: number): Promise<MadeRow[]> {
    return this.#tx.all<MadeRow>(MADE, [JSON.stringify(makers), now]);
  }

  /** Names another maker of everything that one made. */
  async reassign(from: string, to: string): Promise<void> {
    for (const [table, column] of MAKERS) {
      await this.#tx.put(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`, [to, from]);
    }
  }
}
