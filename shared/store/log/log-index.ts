import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

/** Index files that we no longer need but that SQLite still has open, by path. */
const kept = new Map<string, number>();

/**
 * Opens the shared index of a log for reading. Closing any file ends this process's locks on it, including SQLite's.
 * Give it back with `releaseIndex`, which closes it only after SQLite has let go.
 */
export function openIndex(path: string): number {
  closeAbandoned();
  const file = kept.get(path);
  if (file === undefined) return openSync(path, 'r');
  kept.delete(path);
  return file;
}

/**
 * Call it when this process has closed its connections to the database, though the driver may close the files later.
 */
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

/** The last connection to close deletes the index, and the next one to open creates another. */
function isInPlace(path: string, file: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
}
