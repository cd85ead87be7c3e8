import type { Reader } from '../../shared/store/engine/driver.ts';
import type { DatabaseLocation } from '../../shared/store/engine/location.ts';
import { openReader, openWriter } from '../../shared/store/engine/open.ts';
import { snapshot } from './snapshot.ts';
import { copyTables, openCopy, type CopyOptions } from '../../shared/store/copy/table-copy.ts';

/**
 * Copies a project's database, as of one moment, to a new file, without any change to the original, even while others
 * write to it. The copy starts a new log for replicas. Throws a `CopyError` if it can't make the copy.
 */
export async function copyDatabase(
  from: DatabaseLocation,
  path: string,
  options: CopyOptions = {},
): Promise<void> {
  if (from.kind === 'file') return snapshot(from.path, path);
  const { readSnapshot } = await import('../../shared/store/remote/open.ts');
  return readSnapshot(from, (source) => copyRows(source, path, options));
}

/** Exported for a test that copies rows between files. */
export async function copyRows(
  source: Reader,
  path: string,
  options: CopyOptions = {},
): Promise<void> {
  const writer = openCopy(path, 'project', { onFatal: () => undefined });
  try {
    const copy = await openReader({ kind: 'file', path });
    try {
      await copyTables(source, writer, copy, options);
    } finally {
      await copy.close();
    }
  } finally {
    await writer.close();
  }
}

/** Migrates the tables of a file that no other process has open. */
export async function migrateFile(path: string): Promise<void> {
  const options = { onFatal: () => undefined };
  await (await openWriter({ kind: 'file', path }, 'project', options)).close();
}
