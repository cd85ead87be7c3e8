import { existsSync } from 'node:fs';
import { unavailable } from '../lib/errors.ts';
import type { FollowedLog, Reader, Writer } from './driver.ts';
import type { DatabaseLocation } from './location.ts';
import { POSITION_QUERY, POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { EmbeddedReader } from './reader.ts';
import { EmbeddedWriter, type ReplicationOptions, type WriterOptions } from './writer.ts';

/** What a writer of any place needs; a file uses some of it, a server other parts. */
export interface OpenWriterOptions extends Omit<WriterOptions, 'positionSql' | 'replication'> {
  /** Where replicas may follow. */
  readonly replication?: Omit<ReplicationOptions, 'positionQuery'>;
  /** Somebody else has written since the last group: comes before the jobs of the next one run. Never for a file. */
  readonly onForeign?: () => void;
  /** What a group did came to nothing: comes before its jobs run again or are refused. Never for a file. */
  readonly onUndone?: () => void;
  /** Only of a database that others write as well: nobody knows whether what was written last was committed. */
  readonly onUncertain?: () => void;
  /** It was made before: one that is missing or empty is lost, and not made anew. UNAVAILABLE then. */
  readonly isMade?: boolean;
}

/** The writer has been opened before: it makes the database and brings its tables up to date. */
export async function openReader(location: DatabaseLocation): Promise<Reader> {
  if (location.kind === 'file') return new EmbeddedReader(location.path);
  const { openRemoteReader } = await import('./remote/open.ts');
  return openRemoteReader(location);
}

/** Makes the database where it is not there, and brings its tables up to date. On a server it must be there. */
export async function openWriter(
  location: DatabaseLocation,
  family: 'project' | 'control',
  { replication, onForeign, onUndone, onUncertain, isMade = false, ...options }: OpenWriterOptions,
): Promise<Writer & FollowedLog> {
  if (location.kind === 'remote') {
    const { openRemoteWriter } = await import('./remote/open.ts');
    return openRemoteWriter(location, family, {
      onReplication: replication?.onReplication,
      onForeign,
      onUndone,
      onUncertain,
      isMade,
    });
  }
  if (isMade && !existsSync(location.path)) {
    throw unavailable(60, new Error(`${location.path} is missing.`));
  }
  return new EmbeddedWriter(
    location.path,
    {
      ...options,
      positionSql: POSITION_SQL,
      ...(replication && { replication: { ...replication, positionQuery: POSITION_QUERY } }),
    },
    (connection) => migrate(connection, family),
  );
}
