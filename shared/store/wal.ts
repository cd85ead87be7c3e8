import { statSync } from 'node:fs';
import type { Connection } from './connection.ts';

/** Size of the write-ahead log beside a database file; 0 when there is none. */
export function walBytes(databasePath: string): number {
  return statSync(`${databasePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Folds the log into the file and empties it; returns what is left of it, 0 when all went well. Runs alone in the
 * writer's queue with no reader of ours open: anything less than a whole checkpoint would let the log restart under a
 * reader's feet.
 */
export async function rotateWal(writer: Connection, databasePath: string): Promise<number> {
  await writer.execOffLoop('PRAGMA wal_checkpoint(TRUNCATE)');
  return walBytes(databasePath);
}
