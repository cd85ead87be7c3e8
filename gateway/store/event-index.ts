import { rmSync } from 'node:fs';
import { Connection } from '../../shared/store/engine/connection.ts';

/** A new number makes a new file: the words of the old one were made otherwise. */
const VERSION = 1;

/**
 * So many consecutive events have a table of their own. A purge drops the whole table, which leaves no trace of its
 * words; what remains of those events is indexed again.
 */
export const BLOCK_EVENTS = 4096;

/** `seq` is the event's position, `terms` its words, letters and digits only. */
export interface IndexedEvent {
  readonly seq: number;
  readonly terms: readonly string[];
}

/** How far a block is indexed. */
export interface IndexedBlock {
  readonly block: number;
  readonly upToSeq: number;
  /** The id of its last event, which tells whether the file belongs to the project's database. */
  readonly lastId: string;
}

/**
 * A full-text index of events, in a file of its own next to the project's database: never replicated, exported or
 * backed up, and made again whenever it's missing. It answers with positions; it stores no text. Calls must not overlap.
 */
export class EventIndex {
  readonly #connection: Connection;

  private constructor(path: string) {
    this.#connection = new Connection(path);
    this.#connection.exec(
      'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON; PRAGMA busy_timeout=200; PRAGMA cache_size=-4000; PRAGMA trusted_schema=OFF',
    );
  }

  /** Opens the file, or makes it. A file of another version or a broken one is replaced. */
  static open(path: string): EventIndex {
    try {
      const index = new EventIndex(path);
      if (index.#prepare()) return index;
      index.close();
    } catch {
      // A file that can't be read is made again.
    }
    deleteIndex(path);
    const made = new EventIndex(path);
    made.#prepare();
    return made;
  }

  /** False if the file has another version. */
  #prepare(): boolean {
    const version = Number(this.#connection.get('PRAGMA user_version')?.['user_version']);
    if (version === VERSION) return true;
    if (version !== 0) return false;
    this.#connection.exec(
      `BEGIN; CREATE TABLE block (block INTEGER PRIMARY KEY, up_to_seq INTEGER NOT NULL, last_id TEXT NOT NULL) STRICT;
       PRAGMA user_version=${VERSION}; COMMIT`,
    );
    return true;
  }

  /** Newest first. */
  blocks(): IndexedBlock[] {
    return this.#connection
      .all('SELECT block, up_to_seq, last_id FROM block ORDER BY block DESC')
      .map((row) => ({
        block: Number(row['block']),
        upToSeq: Number(row['up_to_seq']),
        lastId: String(row['last_id']),
      }));
  }

  /** Adds events of one block, oldest first. The work happens on another thread. */
  async add(
    { block, upToSeq, lastId }: IndexedBlock,
    events: readonly IndexedEvent[],
  ): Promise<void> {
    const table = tableOf(block);
    const rows = events.map(({ seq, terms }) => `(${seq},${quotedText(terms.join(' '))})`);
    await this.#atomic(
      // Terms have only letters and digits, so this tokenizer leaves each as it is.
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii');
       ${rows.length > 0 ? `INSERT INTO ${table} (rowid, terms) VALUES ${rows.join(',')};` : ''}
       INSERT INTO block (block, up_to_seq, last_id) VALUES (${block}, ${upToSeq}, ${quotedText(lastId)})
         ON CONFLICT DO UPDATE SET up_to_seq = excluded.up_to_seq, last_id = excluded.last_id;`,
    );
  }

  /** The positions of a block's events that have all terms, newest first. */
  match(
    block: number,
    terms: readonly { readonly term: string; readonly isPrefix: boolean }[],
    { beforeSeq, limit }: { readonly beforeSeq: number; readonly limit: number },
  ): number[] {
    const table = tableOf(block);
    const wanted = terms.map(({ term, isPrefix }) => `"${term}"${isPrefix ? ' *' : ''}`);
    return this.#connection
      .all(
        `SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`,
        [wanted.join(' AND '), beforeSeq, limit],
      )
      .map((row) => Number(row['rowid']));
  }

  /** Deletes every block that has events up to this position, and their words from the file. */
  async drop(upToSeq: number): Promise<number> {
    const dropped = this.blocks().filter(({ block }) => block * BLOCK_EVENTS <= upToSeq);
    for (const { block } of dropped) {
      await this.#atomic(
        `DROP TABLE IF EXISTS ${tableOf(block)}; DELETE FROM block WHERE block = ${block};`,
      );
    }
    if (dropped.length > 0) await this.checkpoint();
    return dropped.length;
  }

  /** Empties the log, which still has the words of dropped blocks. */
  checkpoint(): Promise<void> {
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#connection.close();
  }

  async #atomic(sql: string): Promise<void> {
    try {
      await this.#connection.execOffLoop(`BEGIN IMMEDIATE; ${sql} COMMIT`);
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Deletes the file with its log. */
export function deleteIndex(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
}

/** The block that a position belongs to. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_EVENTS);
}

function tableOf(block: number): string {
  return `text_${block}`;
}

function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
