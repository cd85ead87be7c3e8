import { randomUUID } from 'node:crypto';
import type { Reader, Writer } from '../../shared/store/engine/driver.ts';
import { endImport, findImport, ImportMark } from './import-mark.ts';
import { LOG_TABLE } from '../../shared/store/remote/group-log.ts';
import type { RemoteLocation } from '../../shared/store/engine/location.ts';
import { onceFree } from './once-free.ts';
import { openReadOnly } from './read-only.ts';
import {
  CopyError,
  copyTables,
  emptyTables,
  type CopyOptions,
} from '../../shared/store/copy/table-copy.ts';

interface ServerImport extends Omit<CopyOptions, 'guard'> {
  /** Names the imported data in one word: a repeat with the same name continues after a complete copy. */
  readonly origin: string;
  /** Throws if the copy is wrong. */
  readonly check: (copy: Reader) => Promise<void>;
}

/** A gateway on files never loads the client of a database server. */
async function openTarget(to: RemoteLocation): Promise<Writer> {
  const { openServerWriter } = await import('../../shared/store/remote/open.ts');
  return openServerWriter(to);
}

/**
 * Copies a project's database from a file of this release, which no process writes to, to a server, in many
 * transactions. Nobody may use the copy before the control database knows the project and `endServerImport` has run.
 * Replaces leftovers of an interrupted import. Throws a `CopyError` if the target holds anything else, and leaves
 * that alone.
 */
export async function importToServer(
  path: string,
  to: RemoteLocation,
  { origin, check, onProgress, signal }: ServerImport,
): Promise<void> {
  const copy = await openReadOnly(to);
  try {
    const found = await findImport(copy);
    if (found.kind === 'used') throw new CopyError('It is not empty, and no import has left it.');
    if (found.kind === 'whole') {
      if (found.origin === origin) return await check(copy);
      throw new CopyError(
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
  const writer = await onceFree(() => openTarget(to));
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
      // Report the first error. The mark stays, so a repeat replaces rows that couldn't be deleted.
      await emptyTables(writer, { guard }).catch(() => undefined);
      throw error;
    }
    await writer.write((tx) => mark.finish(tx, origin));
  } finally {
    await writer.close();
  }
}

/** Makes the copy a normal database, after the control database knows the project. */
export async function endServerImport(to: RemoteLocation): Promise<void> {
  const writer = await openTarget(to);
  try {
    await writer.write(endImport);
  } finally {
    await writer.close();
  }
}

/**
 * Deletes a project's rows, and the log of its groups, which repeats them. The database stays and is marked as the rest
 * of an import, so that the project can come back. Can be repeated.
 */
export async function eraseOnServer(to: RemoteLocation): Promise<void> {
  const mark = new ImportMark(randomUUID());
  const writer = await openTarget(to);
  try {
    await onceFree(() => writer.write((tx) => mark.begin(tx)));
    await emptyTables(writer);
    await writer.write((tx) => tx.run(`DELETE FROM ${LOG_TABLE}`));
  } finally {
    await writer.close();
  }
}
