import { existsSync } from 'node:fs';
import { constants, copyFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client, Transaction } from '@libsql/client/http';
import { unavailable } from '../../lib/errors.ts';
import { makeFolder } from '../../host/make-folder.ts';
import type { RemoteLocation } from '../location.ts';
import { migrate, missingMigrations, NewerSchema } from '../migrate.ts';
import { EmbeddedReader } from '../reader.ts';
import { copyTables, MIRRORED } from '../table-copy.ts';
import { EmbeddedWriter } from '../writer.ts';
import { RemoteAuthority } from './authority.ts';
import { openClient } from './client.ts';
import { isOfStatement, mayPass, wrongSetting } from './failure.ts';
import { CREATE_LOG_SQL } from './group-log.ts';
import { OneSnapshot, RemoteReader } from './reader.ts';
import { RetryBudget } from './retry-budget.ts';
import { ServerWriter } from './server-writer.ts';

type Family = 'project' | 'control';

/** Reads the server itself, not a mirror. */
export function openRemoteReader(location: RemoteLocation): RemoteReader {
  return new RemoteReader(openClient(location));
}

/** Updates the tables on the server. UNAVAILABLE if it stays unreachable for a while. */
export async function openAuthority(
  location: RemoteLocation,
  family: Family,
  isMade: boolean,
): Promise<RemoteAuthority> {
  const client = openClient(location);
  try {
    await patiently(() => migrateRemote(client, family, isMade));
    return new RemoteAuthority(client);
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Writes the server without a mirror: see `ServerWriter`. */
export async function openServerWriter(location: RemoteLocation): Promise<ServerWriter> {
  const client = openClient(location);
  try {
    await patiently(() => migrateRemote(client, 'project', false));
    return new ServerWriter(client);
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Copies the database to the mirror's place, unless there is a mirror. */
export async function ensureMirror(location: RemoteLocation, family: Family): Promise<void> {
  const { mirror } = location;
  if (existsSync(mirror)) return;
  makeFolder(dirname(mirror));
  const [made, whole] = [`${mirror}.new`, `${mirror}.whole`];
  await dropMirror(made);
  const client = openClient(location);
  try {
    const reader = new RemoteReader(client);
    await reader.read((tx) => copyTo(made, family, new OneSnapshot(tx)));
  } finally {
    client.close();
  }
  // The driver may still have the file open, under this name: what is opened next must be another file.
  await copyFile(made, whole, constants.COPYFILE_FICLONE);
  await rename(whole, mirror);
  await dropMirror(made);
}

/** Removes a mirror that nobody has open, with everything that belongs to it. */
export async function dropMirror(path: string): Promise<void> {
  // The database last: without it, a mirror is made again.
  await rm(join(dirname(path), 'generations'), { recursive: true, force: true });
  for (const end of ['-wal', '-shm', '']) await rm(path + end, { force: true });
}

async function copyTo(path: string, family: Family, from: OneSnapshot): Promise<void> {
  let failure: unknown = null;
  const onFatal = (error: unknown): void => {
    failure = error;
  };
  const writer = new EmbeddedWriter(path, { onFatal }, (one) => migrate(one, family));
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

/** A database that was created before is empty. */
class EmptyDatabase extends Error {}

/** The server doesn't keep what it has acknowledged. */
class LossyServer extends Error {}

/**
 * Does what `migrate` does for a file. If several gateways start at once, one migrates; the others wait and find it
 * done.
 */
async function migrateRemote(client: Client, family: Family, isMade: boolean): Promise<void> {
  await refuseLossy(client);
  const { rows } = await client.execute(VERSION);
  const version = Number(rows[0]?.['user_version']);
  if (isMade && version === 0) throw new EmptyDatabase('The database is empty, and was not.');
  if (missingMigrations(family, version)) {
    const transaction = await client.transaction('write');
    try {
      await migrateWithin(transaction, family);
    } finally {
      await transaction.rollback().catch(() => undefined);
    }
  }
  await client.execute(CREATE_LOG_SQL);
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
  throw new LossyServer(
    'The database server may lose answered commits in a power cut: its databases need `"durability_mode": "strong"` (see SVC_DATABASE_CREATE_URL).',
  );
}

async function migrateWithin(transaction: Transaction, family: Family): Promise<void> {
  const { rows } = await transaction.execute(VERSION);
  const missing = missingMigrations(family, Number(rows[0]?.['user_version']));
  for (const text of missing ?? []) await transaction.executeMultiple(text);
  await transaction.commit();
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const budget = new RetryBudget();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof EmptyDatabase || error instanceof LossyServer) {
        throw unavailable(60, error);
      }
      if (error instanceof NewerSchema || isOfStatement(error)) throw error;
      if (mayPass(error) && (await budget.lasts())) continue;
      throw unavailable(5, wrongSetting(error) ?? error);
    }
  }
}
