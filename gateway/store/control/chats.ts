import type { Reader, Row, Tx, Writer } from '../../../shared/store/engine/driver.ts';

/** A Telegram chat that is a channel of a project. */
export interface ChatRow extends Row {
  /** Keyed. */
  chat_hash: string;
  /** Sealed. */
  chat: Uint8Array;
  /** Unix time in milliseconds. */
  added_at: number;
}

/** A chat is noted before its channel is confirmed, maybe by another gateway, so a young row that seems needless stays. */
const YOUNG_MS = 60_000;
/** Moved projects answer nothing, and reserved and deleted ones have no data. */
const THERE = "state IN ('active', 'held')";

/** In which projects a chat is a channel. The project's own database is what counts; these rows only find it. */
export class ChatStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  async add(projectId: string, row: ChatRow): Promise<void> {
    await this.#writer.write((tx) => insert(tx, projectId, row));
  }

  /** The ids of the projects that may have this chat as a channel. */
  async projectsOf(chatHash: string): Promise<string[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<{ id: string }>(
        `SELECT id FROM telegram_chat JOIN project ON id = project_id WHERE chat_hash = ? AND ${THERE} ORDER BY id`,
        [chatHash],
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** The ids of the projects whose chats nobody has noted. */
  async unnoted(): Promise<string[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<{ id: string }>(
        `SELECT id FROM project WHERE has_chats_noted = 0 AND ${THERE} ORDER BY id`,
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** Makes the rows of a project those of its channels, and notes that they are. */
  async replace(projectId: string, rows: readonly ChatRow[], now: number): Promise<void> {
    // Every opening of a project comes here, nearly always for nothing.
    if (await this.#reader.read((tx) => isSame(tx, projectId, rows))) return;
    await this.#writer.write(async (tx) => {
      // Those of a project that was just deleted would stay behind.
      if (!(await tx.get('SELECT 1 AS found FROM project WHERE id = ?', [projectId]))) return;
      const wanted = JSON.stringify(rows.map(({ chat_hash }) => chat_hash));
      await tx.put(
        `DELETE FROM telegram_chat WHERE project_id = ? AND added_at < ?
           AND chat_hash NOT IN (SELECT value FROM json_each(?))`,
        [projectId, now - YOUNG_MS, wanted],
      );
      for (const row of rows) await insert(tx, projectId, row);
      await tx.put('UPDATE project SET has_chats_noted = 1 WHERE id = ?', [projectId]);
    });
  }

  /** The databases of the projects were replaced, so the rows say nothing about them. */
  async doubtAll(): Promise<void> {
    await this.#writer.write((tx) => tx.put('UPDATE project SET has_chats_noted = 0'));
  }
}

async function isSame(tx: Tx, projectId: string, rows: readonly ChatRow[]): Promise<boolean> {
  const project = await tx.get('SELECT has_chats_noted AS noted FROM project WHERE id = ?', [
    projectId,
  ]);
  if (project?.['noted'] !== 1) return false;
  const known = await tx.all<{ chat_hash: string }>(
    'SELECT chat_hash FROM telegram_chat WHERE project_id = ?',
    [projectId],
  );
  const wanted = new Set(rows.map(({ chat_hash }) => chat_hash));
  return known.length === wanted.size && known.every(({ chat_hash }) => wanted.has(chat_hash));
}

/** A row that is there becomes young again. */
async function insert(tx: Tx, projectId: string, row: ChatRow): Promise<void> {
  await tx.put(
    `INSERT INTO telegram_chat (project_id, chat_hash, chat, added_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET added_at = excluded.added_at`,
    [projectId, row.chat_hash, row.chat, row.added_at],
  );
}
