import { errorCode, isObject } from '../lib/guards.ts';
import { StartRefusal } from './start-refusal.ts';
import {
  folderTrouble,
  namesTrouble,
  troubleWith,
  writeTrouble,
  type WriteTrouble,
} from './writable.ts';

/** Codes of the system that only a write gets. */
const OF_WRITES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS'];

/**
 * What to say of a failed start: if a file, a socket or a database couldn't be made or written, a `StartRefusal` that names
 * the place, the reason and the cure; otherwise the error itself.
 */
export async function startTrouble(error: unknown, dataFolder: string): Promise<unknown> {
  if (error instanceof StartRefusal) return error;
  const trouble = isOfSqlite(error) ? await databaseTrouble(error, dataFolder) : troubleOf(error);
  return trouble === null
    ? error
    : new StartRefusal(`${trouble.text}. ${trouble.cure}`, 'settings');
}

/** SQLite names no file. */
async function databaseTrouble(error: unknown, folder: string): Promise<WriteTrouble | null> {
  if (errorCode(error) === 'SQLITE_FULL') return troubleWith(folder, 'ENOSPC');
  return (await writeTrouble(folder)) ?? namesTrouble(folder);
}

/** What the system refused to write, by its error; null for any other error. */
export function troubleOf(error: unknown): WriteTrouble | null {
  const code = errorCode(error) ?? '';
  const isFolder = isObject(error) && error['syscall'] === 'mkdir';
  if (isFolder && typeof error['path'] === 'string') return folderTrouble(error['path'], code);
  if (!OF_WRITES.includes(code) || !isObject(error)) return null;
  // Two names: the second is the one to be made. Of a socket, the error has the address.
  const places = [error['dest'], error['path'], error['address']];
  const place = places.filter((one) => typeof one === 'string').find((one) => one.startsWith('/'));
  return place === undefined ? null : troubleWith(place, code);
}

/** Whether a database couldn't be opened, read or written. */
export function isOfSqlite(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // For a database that can't be opened, libsql gives no code.
  return (
    (errorCode(error) ?? '').startsWith('SQLITE_') || error.message.startsWith('ConnectionFailed')
  );
}
