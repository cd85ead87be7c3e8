import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

/** Indexes that are not needed and that SQLite has open still, by their paths. */
const kept = new Map<string, number>();

/**
 * Opens the shared index of a log for reading. To close any file ends the locks that this process has on it, those of
 * SQLite with them: so it is given back by `releaseIndex`, and closed only when SQLite has let go of it.
 */
export function openIndex(path: string): number {
  closeAbandoned();
  const file = kept.get(path);
  if (file === undefined) return openSync(path, 'r');
  kept.delete(path);
  return file;
}

/** The connections of this process to the database are closed, though the driver may take its time with that. */
export function releaseIndex(path: string, file: number): void {
  if (isInPlace(path, file)) kept.set(path, file);
  else closeSync(file);
}

function closeAbandoned(): void {
  for (const [path, file] of kept) {
    if (isInPlace(path, file)) continue;
    kept.delete(path);
    closeSync(file);
  }
}

/** The last connection to be closed deletes the index, and the next one makes another. */
function isInPlace(path: string, file: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
}
