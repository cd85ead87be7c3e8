import { existsSync } from 'node:fs';
import { unavailable } from '../lib/errors.ts';
import type { FollowedLog, Reader, Writer } from './driver.ts';
import type { DatabaseLocation } from './location.ts';
import { POSITION_QUERY, POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { EmbeddedReader } from './reader.ts';
import { EmbeddedWriter, type ReplicationOptions, type WriterOptions } from './writer.ts';

/** Options for any kind of writer; embedded and remote writers use different parts. */
export interface OpenWriterOptions extends Omit<WriterOptions, 'positionSql' | 'replication'> {
  /** Set if replicas can follow. */
  readonly replication?: Omit<ReplicationOptions, 'positionQuery'>;
  /**
   * Called if another process has written since the last group, before the jobs of the next group run. Never called for
   * a file.
   */
  readonly onForeign?: () => void;
  /** Called if a group's changes were lost, before its jobs run again or are refused. Never called for a file. */
  readonly onUndone?: () => void;
  /** Called if nobody knows whether the last write was committed. Only for databases that several processes write. */
  readonly onUncertain?: () => void;
  /**
   * The database was created before: if it is missing or empty, it is lost. Throws UNAVAILABLE instead of creating it
   * again.
   */
  readonly isMade?: boolean;
}

/** Open a writer first: it creates the database and updates its tables. */
export async function openReader(location: DatabaseLocation): Promise<Reader> {
  if (location.kind === 'file') return new EmbeddedReader(location.path);
  const { openRemoteReader } = await import('./remote/open.ts');
  return openRemoteReader(location);
}

/** Creates the database if needed and updates its tables. On a server the database must exist. */
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
