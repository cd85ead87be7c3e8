import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** A user whom permissions bind, as they don't bind root; undefined if the tests' own user is one. */
export const BOUND_UID = process.getuid?.() === 0 ? 65_534 : undefined;

/** Gives a folder, and all in it, to that user. */
export function giveToBound(folder: string): void {
  if (BOUND_UID === undefined) return;
  chownSync(folder, BOUND_UID, BOUND_UID);
  execFileSync('chown', ['-R', `${BOUND_UID}:${BOUND_UID}`, folder]);
}

/** Lets nobody write in a folder, or its user again. */
export function setWritable(folder: string, mayWrite: boolean): void {
  execFileSync('chmod', ['-R', mayWrite ? 'u+w' : 'a-w', folder]);
}
