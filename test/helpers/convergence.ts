import { execFileSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../shared/store/engine/connection.ts';

/** What two copies of a project must agree on. */
export interface Content {
  readonly position: number;
  readonly ledgerHead: string | null;
  readonly ledgerEntries: number;
  readonly events: number;
  readonly keys: number;
}

/** Reads a database file that others may have open. */
export function contentOf(path: string): Content {
  const database = new Libsql(readOnlyAddress(path));
  try {
    const value = (sql: string): unknown =>
      Object.values(database.prepare(sql).get([]) as Record<string, unknown>)[0];
    return {
      position: Number(value("SELECT value FROM meta WHERE name = 'commit_seq'")),
      ledgerHead: String(value('SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1')),
      ledgerEntries: Number(value('SELECT count(*) FROM ledger')),
      events: Number(value('SELECT count(*) FROM event')),
      keys: Number(value('SELECT count(*) FROM kv')),
    };
  } finally {
    database.close();
  }
}

/** Whether a copy has what another has. */
export function areAlike([one, other]: readonly unknown[]): boolean {
  return isDeepStrictEqual(one, other);
}

/** Whether SQLite's own shell finds nothing wrong with a file. */
export function integrityOf(path: string): string {
  return execFileSync('sqlite3', [path, 'PRAGMA integrity_check;'], { encoding: 'utf8' }).trim();
}
