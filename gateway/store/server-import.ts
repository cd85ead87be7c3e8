import { randomUUID } from 'node:crypto';
import type { Reader } from '../../shared/store/driver.ts';
import { endImport, findImport, ImportMark } from './import-mark.ts';
import type { RemoteLocation } from '../../shared/store/location.ts';
import { onceFree } from './once-free.ts';
import { openReader, openWriter } from '../../shared/store/open.ts';
import { openReadOnly } from './read-only.ts';
import { CopyRefused, copyTables, emptyTables, type CopyOptions } from './table-copy.ts';

interface ServerImport extends Omit<CopyOptions, 'guard'> {
  /** Names what is brought in, in one word: a repeat with the same goes on where it was all there. */
  readonly origin: string;
  /** Throws when the copy is not what it should be. */
  readonly check: (copy: Reader) => Promise<void>;
}

const OPTIONS = { onFatal: () => undefined };

/**
 * Brings the database of a project, a file of this release that nobody writes to, into one on a server, in many transactions.
 * It is not to be used before `endServerImport`, and only once the control database knows it. What an import left that was
 * cut short is replaced. Throws a `CopyRefused` when anything else is there; it is left alone.
 */
export async function importToServer(
  path: string,
  to: RemoteLocation,
  { origin, check, onProgress, signal }: ServerImport,
): Promise<void> {
  const copy = await openReader(to);
  try {
    const found = await findImport(copy);
    if (found.kind === 'used') throw new CopyRefused('It is not empty, and no import has left it.');
    if (found.kind === 'whole') {
      if (found.origin === origin) return await check(copy);
      throw new CopyRefused(
        'It holds another export of this project, which was brought in whole and then not taken on. Import that one, or delete the database at the server first.',
      );
    }
    await fill(path, { to, copy }, { origin, check, onProgress, signal });
  } finally {
    await copy.close();
  }
}

async function fill(
  path: string,
  { to, copy }: { readonly to: RemoteLocation; readonly copy: Reader },
  { origin, check, ...watch }: ServerImport,
): Promise<void> {
  const mark = new ImportMark(randomUUID());
  const writer = await onceFree(() => openWriter(to, 'project', OPTIONS));
  try {
    await onceFree(() => writer.write((tx) => mark.begin(tx)));
    const guard = mark.check.bind(mark);
    try {
      const source = await openReadOnly({ kind: 'file', path });
      try {
        await copyTables(source, writer, copy, { ...watch, guard });
      } finally {
        await source.close();
      }
      await check(copy);
      watch.signal?.throwIfAborted();
    } catch (error) {
      // What went wrong first is what to tell. The mark stays, and a repeat replaces what could not be deleted.
      await emptyTables(writer, { guard }).catch(() => undefined);
      throw error;
    }
    await writer.write((tx) => mark.finish(tx, origin));
  } finally {
    await writer.close();
  }
}

/** The control database knows the project now: its database is as any other. */
export async function endServerImport(to: RemoteLocation): Promise<void> {
  const writer = await openWriter(to, 'project', OPTIONS);
  try {
    await writer.write(endImport);
  } finally {
    await writer.close();
  }
}
