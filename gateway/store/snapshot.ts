import { Connection, readOnlyAddress } from '../../shared/store/engine/connection.ts';

/**
 * Copies a database as of now to a new file, even while another process writes to it, without any change to the
 * original or its log. The copy is one file without a log, and isn't synced.
 */
export async function snapshot(path: string, copy: string): Promise<void> {
  const connection = new Connection(readOnlyAddress(path));
  try {
    // query_only would also forbid writing the copy, and this connection can't write to the original anyway.
    connection.exec('PRAGMA busy_timeout=5000');
    await connection.execOffLoop(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  } finally {
    connection.close();
  }
}

/** Returns structural problems of a database that no process has open, one per line; empty if it is sound. */
export function structureProblems(path: string): string[] {
  const connection = new Connection(readOnlyAddress(path));
  try {
    const rows = connection.all('PRAGMA integrity_check');
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== 'ok');
  } finally {
    connection.close();
  }
}
