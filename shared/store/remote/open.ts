import { existsSync } from 'node:fs';
import { constants, copyFile, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client, Transaction } from '@libsql/client/http';
import { ServiceError, unavailable } from '../../lib/errors.ts';
import { makeFolder } from '../../host/make-folder.ts';
import { isDamage, type Connection } from '../engine/connection.ts';
import type { Reader } from '../engine/driver.ts';
import type { RemoteLocation } from '../engine/location.ts';
import { OutdatedMirrorError, mirroring } from './mirror.ts';
import { migrate, missingMigrations, NewerSchema } from '../engine/migrate.ts';
import type { OpenWriterOptions } from '../engine/open.ts';
import { EmbeddedReader } from '../engine/reader.ts';
import { EmbeddedWriter } from '../engine/writer.ts';
import { copyTables, MIRRORED, openCopy } from '../copy/table-copy.ts';
import { RemoteAuthority } from './authority.ts';
import { openAfresh, openClient } from './client.ts';
import { isOfStatement } from './failure.ts';
import { CREATE_LOG_SQL, LOG_TABLE } from './group-log.ts';
import { OneSnapshot, RemoteReader } from './reader.ts';
import { patiently } from './retry.ts';
import { ServerWriter } from './server-writer.ts';

type Family = 'project' | 'control';

const nothing = (): void => undefined;

/** Opens the mirror of a database on a server, up to date; copies it again if what is there can't be brought up to date. */
export async function openMirror(
  location: RemoteLocation,
  family: Family,
  options: OpenWriterOptions,
): Promise<EmbeddedWriter> {
  const { onForeign = nothing, onUndone = nothing } = options;
  const { onUncertain = nothing, onOutdated = nothing } = options;
  for (let isSecond = false; ; isSecond = true) {
    const authority = await openAuthority(location, family, options.isMade ?? false);
    const mirror = mirroring({ authority, onForeign, onUndone, onUncertain, onOutdated });
    let writer: EmbeddedWriter | null = null;
    try {
      await ensureMirror(location, family);
      writer = new EmbeddedWriter(location.mirror, { ...options, ...mirror }, (one) =>
        migrateMirror(one, family, authority),
      );
      await writer.resume();
      return writer;
    } catch (error) {
      await (writer ?? authority).close();
      const isUseless = error instanceof OutdatedMirrorError || isDamage(error);
      if (isSecond || !isUseless) throw error;
      await dropMirror(location.mirror);
    }
  }
}

/** Reads the server itself, not a mirror. */
export function openRemoteReader(location: RemoteLocation): RemoteReader {
  return new RemoteReader(openClient(location));
}

/** Migrates the database on the server if needed. UNAVAILABLE if it stays unreachable for a while. */
export async function openAuthority(
  location: RemoteLocation,
  family: Family,
  isMade: boolean,
): Promise<RemoteAuthority> {
  const client = openClient(location);
  try {
    const hasMigrated = await patiently(() => migrateRemote(client, family, isMade), isFinal);
    return new RemoteAuthority(client, { afresh: openAfresh(location), hasMigrated });
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Writes the server without a mirror: see `ServerWriter`. */
export async function openServerWriter(location: RemoteLocation): Promise<ServerWriter> {
  const client = openClient(location);
  try {
    await patiently(() => migrateRemote(client, 'project', false), isFinal);
    return new ServerWriter(client);
  } catch (error) {
    client.close();
    throw error;
  }
}

/**
 * Reads the database as of one moment, however often it's written to meanwhile. While the server is in trouble, `fn` runs
 * again from its start.
 */
export async function readSnapshot<T>(
  location: RemoteLocation,
  fn: (from: Reader) => Promise<T>,
): Promise<T> {
  const reader = openRemoteReader(location);
  try {
    return await reader.read((tx) => fn(new OneSnapshot(tx)));
  } finally {
    await reader.close();
  }
}

/** Copies the database to the mirror's place, unless there is a mirror. */
async function ensureMirror(location: RemoteLocation, family: Family): Promise<void> {
  const { mirror } = location;
  if (existsSync(mirror)) return;
  makeFolder(dirname(mirror));
  const [made, whole] = [`${mirror}.new`, `${mirror}.whole`];
  await dropMirror(made);
  await readSnapshot(location, (from) => copyTo(made, family, from));
  // The driver may still have the file open, under this name: what is opened next must be another file.
  await copyFile(made, whole, constants.COPYFILE_FICLONE);
  // After a power cut, the name must not lead to a file that is only half there.
  await sync(whole);
  await rename(whole, mirror);
  await dropMirror(made);
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes a mirror that nobody has open, with everything that belongs to it. */
async function dropMirror(path: string): Promise<void> {
  // The database last: without it, a mirror is made again.
  await rm(join(dirname(path), 'generations'), { recursive: true, force: true });
  for (const end of ['-wal', '-shm', '-sums', '']) await rm(path + end, { force: true });
}

async function copyTo(path: string, family: Family, from: Reader): Promise<void> {
  let failure: unknown = null;
  const onFatal = (error: unknown): void => {
    failure = error;
  };
  const writer = openCopy(path, family, { onFatal });
  try {
    const copy = new EmbeddedReader(path);
    try {
      await copyTables(from, writer, copy, { own: MIRRORED });
    } finally {
      await copy.close();
    }
  } finally {
    await writer.close();
  }
  if (failure !== null) throw unavailable(5, failure);
}

/** An operator must do something first, or another release must. */
function isFinal(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof NewerSchema || isOfStatement(error);
}

/** How soon to try again what waits for an operator, in seconds. */
const OPERATOR_SECONDS = 60;

/**
 * Does what `migrate` does for a file; returns whether it was this call that did it. If several gateways start at once,
 * one migrates; the others wait and find it done.
 */
async function migrateRemote(client: Client, family: Family, isMade: boolean): Promise<boolean> {
  await refuseLossy(client);
  const { rows } = await client.execute(VERSION);
  const version = Number(rows[0]?.['user_version']);
  if (isMade && version === 0) {
    throw unavailable(OPERATOR_SECONDS, new Error('The database is empty, and was not.'));
  }
  let hasMigrated = false;
  if (missingMigrations(family, version)) {
    const transaction = await client.transaction('write');
    try {
      hasMigrated = await migrateWithin(transaction, family);
    } finally {
      await transaction.rollback().catch(() => undefined);
    }
  }
  await client.execute(CREATE_LOG_SQL);
  return hasMigrated;
}

const VERSION = 'PRAGMA user_version';
/** The value of `PRAGMA synchronous` from which a commit is on the disk when it is answered: FULL. */
const SYNCHRONOUS_FULL = 2;

/** Throws if the server answers commits before they are on its disk. Servers that don't tell have their own rules. */
async function refuseLossy(client: Client): Promise<void> {
  const asked = client.execute('PRAGMA synchronous').catch((error: unknown) => {
    if (isOfStatement(error)) return null;
    throw error;
  });
  const mode = (await asked)?.rows[0]?.['synchronous'];
  if (mode === undefined || mode === null || Number(mode) >= SYNCHRONOUS_FULL) return;
  const reason = new Error(
    'The database server may lose answered commits in a power cut: its databases need `"durability_mode": "strong"` (see SVC_DATABASE_CREATE_URL).',
  );
  throw unavailable(OPERATOR_SECONDS, reason);
}

async function migrateWithin(transaction: Transaction, family: Family): Promise<boolean> {
  const { rows } = await transaction.execute(VERSION);
  const missing = missingMigrations(family, Number(rows[0]?.['user_version']));
  if (!missing) return false;
  for (const text of missing) await transaction.executeMultiple(text);
  // Logged statements fit the old tables, so a mirror that lacks some must be copied again.
  await transaction.executeMultiple(`${CREATE_LOG_SQL}; DELETE FROM ${LOG_TABLE};`);
  await transaction.commit();
  return true;
}

/**
 * Migrates a mirror right after the server's database. Throws a OutdatedMirrorError if that was migrated earlier: groups
 * that an earlier release has committed since would be migrated here, and aren't there.
 */
function migrateMirror(
  connection: Connection,
  family: Family,
  { hasMigrated }: RemoteAuthority,
): void {
  const version = Number(connection.get(VERSION)?.['user_version']);
  const isOlder = version > 0 && missingMigrations(family, version) !== null;
  if (isOlder && !hasMigrated) throw new OutdatedMirrorError('It has an older schema.');
  migrate(connection, family);
}
