import { Connection, readOnlyAddress } from '../../shared/store/connection.ts';

/**
 * Writes a copy of a database as it stands now to a new file, also while another process writes to it: nothing of the
 * original or its log is changed. The copy is one file without a log. It is not synced.
 */
export async function snapshot(path: string, copy: string): Promise<void> {
  const connection = new Connection(readOnlyAddress(path));
  try {
    // Not query_only, which forbids to write the copy as well: the connection cannot write to the original anyway.
    connection.exec('PRAGMA busy_timeout=5000');
    await connection.execOffLoop(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  } finally {
    connection.close();
  }
}

/** What is wrong with the structure of a database that nobody has open, a line each; empty when nothing is. */
export function structureProblems(path: string): string[] {
  const connection = new Connection(readOnlyAddress(path));
  try {
    const rows = connection.all('PRAGMA integrity_check');
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== 'ok');
  } finally {
    connection.close();
  }
}
