import { join } from 'node:path';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { Reader, Writer } from '../../shared/store/engine/driver.ts';
import { EmbeddedReader } from '../../shared/store/engine/reader.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { temporaryFolder } from './gateway.ts';

interface OpenDatabase {
  readonly database: Reader & Writer;
  readonly path: string;
  /** Errors reported as fatal. */
  readonly fatal: unknown[];
  /** Closed with the database. */
  newReader(): Reader;
  remove(): Promise<void>;
}

/** Tables for tests of the store: `item (name, value)`, and what counts the commits. */
export const ITEMS = `CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
  INSERT OR IGNORE INTO meta VALUES ('commit_seq', 0);
  CREATE TABLE IF NOT EXISTS item (name TEXT PRIMARY KEY, value ANY) STRICT`;

export function makeItems(connection: Connection): void {
  connection.exec(ITEMS);
}

/** A database with one table `item (name, value)` in its own folder. */
export function openDatabase(): OpenDatabase {
  const folder = temporaryFolder();
  const path = join(folder.path, 'test.db');
  const fatal: unknown[] = [];
  const options = { onFatal: (error: unknown) => fatal.push(error) };
  const writer = new EmbeddedWriter(path, options, makeItems);
  const readers = [new EmbeddedReader(path)];
  const [reader] = readers as [EmbeddedReader];
  const database: Reader & Writer = {
    read: (fn) => reader.read(fn),
    write: (fn, writeOptions) => writer.write(fn, writeOptions),
    rotate: () => writer.rotate(),
    catchUp: () => writer.catchUp(),
    async close() {
      await Promise.all([...readers.map((one) => one.close()), writer.close()]);
    },
  };
  return {
    database,
    path,
    fatal,
    newReader() {
      const another = new EmbeddedReader(path);
      readers.push(another);
      return another;
    },
    async remove() {
      await database.close();
      folder.remove();
    },
  };
}

/** Opens a database file raw, as somebody with the file and no manners would, and closes it again. */
export function withRawDatabase<T>(path: string, fn: (connection: Connection) => T): T {
  const connection = new Connection(path);
  // The gateway may be writing.
  connection.exec('PRAGMA busy_timeout=60000');
  try {
    return fn(connection);
  } finally {
    connection.close();
  }
}
