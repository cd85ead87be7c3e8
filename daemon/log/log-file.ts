import { openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder } from '../files.ts';

const ROTATE_AT_BYTES = 10 * 1024 * 1024;

/** Moves a large log to `.1`, and replaces the previous one. Call it while no daemon writes. */
export function rotateLog(path: string, aboveBytes = ROTATE_AT_BYTES): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > aboveBytes) renameSync(path, `${path}.1`);
}

/** Opens a log for appending, mode 0600, and returns the descriptor. */
export function openLog(path: string): number {
  makePrivateFolder(dirname(path));
  return openSync(path, 'a', 0o600);
}
