import type { Client, Transaction } from '@libsql/client/http';
import { unavailable } from '../../lib/errors.ts';
import type { RemoteLocation } from '../location.ts';
import { POSITION_QUERY } from '../meta.ts';
import { missingMigrations, NewerSchema } from '../migrate.ts';
import { openClient } from './client.ts';
import { isOfStatement, wrongSetting } from './failure.ts';
import { RetryBudget } from './retry-budget.ts';
import { RemoteReader } from './reader.ts';
import { RemoteWriter, type RemoteWriterOptions } from './writer.ts';

type Family = 'project' | 'control';

export function openRemoteReader(location: RemoteLocation): RemoteReader {
  return new RemoteReader(openClient(location));
}

/** Updates the tables. UNAVAILABLE if the server stays unreachable for a while. */
export async function openRemoteWriter(
  location: RemoteLocation,
  family: Family,
  { isMade, ...options }: RemoteWriterOptions & { readonly isMade: boolean },
): Promise<RemoteWriter> {
  const client = openClient(location);
  try {
    await patiently(() => migrateRemote(client, family, isMade));
    const { rows } = await patiently(() => client.execute(POSITION_QUERY));
    return new RemoteWriter(client, Number(rows[0]?.['value']), options);
  } catch (error) {
    client.close();
    throw error;
  }
}

/** A database that was created before is empty. */
class EmptyDatabase extends Error {}

/**
 * Does what `migrate` does for a file. If several gateways start at once, one migrates; the others wait and find it
 * done.
 */
async function migrateRemote(client: Client, family: Family, isMade: boolean): Promise<void> {
  const { rows } = await client.execute(VERSION);
  const version = Number(rows[0]?.['user_version']);
  if (isMade && version === 0) throw new EmptyDatabase('The database is empty, and was not.');
  if (!missingMigrations(family, version)) return;
  const transaction = await client.transaction('write');
  try {
    await migrateWithin(transaction, family);
  } finally {
    await transaction.rollback().catch(() => undefined);
  }
}

const VERSION = 'PRAGMA user_version';

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
      if (error instanceof EmptyDatabase) throw unavailable(60, error);
      if (error instanceof NewerSchema || isOfStatement(error)) throw error;
      const wrong = wrongSetting(error, true);
      if (wrong || !(await budget.lasts())) throw unavailable(5, wrong ?? error);
    }
  }
}
