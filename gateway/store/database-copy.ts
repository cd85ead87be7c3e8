import type { DatabaseLocation } from '../../shared/store/location.ts';
import { openReader, openWriter } from '../../shared/store/open.ts';
import { openReadOnly } from './read-only.ts';
import { snapshot } from './snapshot.ts';
import { copyTables, type CopyOptions } from './table-copy.ts';

/**
 * Writes a copy of a project's database as it stands at one moment to a new file, also while others write to it, and says
 * nothing to them. The log that replicas follow is not copied: it begins anew. Throws a `CopyRefused` where it cannot be made.
 */
export function copyDatabase(
  from: DatabaseLocation,
  path: string,
  options: CopyOptions = {},
): Promise<void> {
  return from.kind === 'file' ? snapshot(from.path, path) : copyRows(from, path, options);
}

/** For a test, which takes this way between files as well. */
export async function copyRows(
  from: DatabaseLocation,
  path: string,
  options: CopyOptions = {},
): Promise<void> {
  const to = { kind: 'file', path } as const;
  const source = await openReadOnly(from);
  try {
    const writer = await openWriter(to, 'project', { onFatal: () => undefined });
    try {
      const copy = await openReader(to);
      try {
        await copyTables(source, writer, copy, options);
      } finally {
        await copy.close();
      }
    } finally {
      await writer.close();
    }
  } finally {
    await source.close();
  }
}

/** Brings the tables of a file up to date that nobody else has open. */
export async function migrateFile(path: string): Promise<void> {
  const options = { onFatal: () => undefined };
  await (await openWriter({ kind: 'file', path }, 'project', options)).close();
}
