import { assertPragma, Connection } from './connection.ts';
import { refuseUnwritable } from './disk-trouble.ts';
import { POSITION_QUERY } from '../tables/meta.ts';

/** The number of the newest commit; 0 in a database that has no tables yet. */
export function positionOf(connection: Connection): number {
  const tables = connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'meta'");
  return tables ? Number(connection.get(POSITION_QUERY)?.['value']) : 0;
}

/** Opens the one connection of a file that writes. It never checkpoints by itself, except when it's closed as the last one. */
export function openWritable(path: string): Connection {
  refuseUnwritable(path);
  const connection = new Connection(path);
  // The daemon holds a lock on the folder, so only an unrelated process can be in the way; waiting for it would stop
  // everyone.
  connection.get('PRAGMA busy_timeout=200');
  connection.get('PRAGMA page_size=4096');
  connection.get('PRAGMA journal_mode=WAL');
  connection.exec(
    'PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON; PRAGMA cache_size=-16000',
  );
  assertPragma(connection, 'synchronous', 2);
  assertPragma(connection, 'page_size', 4096);
  assertPragma(connection, 'wal_autocheckpoint', 0);
  // Reading creates the log.
  connection.get('PRAGMA schema_version');
  return connection;
}
