import type { Reader, Writer } from '../../shared/store/engine/driver.ts';
import { openDatabase } from './database.ts';
import { openRemoteDatabase, openSqldDatabase } from './remote-database.ts';
import { SqldNamespaces } from './sqld-namespaces.ts';

/** A database with a table `item (name, value)`. */
export interface OpenStore {
  readonly database: Reader & Writer;
  /** Closed with the database. */
  newReader(): Reader;
  remove(): Promise<void>;
}

/** Everything that keeps a database, by its name in tests. */
export const DRIVERS: readonly (readonly [string, () => Promise<OpenStore>])[] = [
  ['an embedded database', async () => openDatabase()],
  ['a database on a server', openRemoteDatabase],
  ...onSqld(),
];

function onSqld(): (readonly [string, () => Promise<OpenStore>])[] {
  const namespaces = SqldNamespaces.onRunning();
  return namespaces ? [["a database on libSQL's own server", openSqldDatabase]] : [];
}
