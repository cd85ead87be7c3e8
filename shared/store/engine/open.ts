import { statSync } from 'node:fs';
import { DamagedDatabase } from '../../host/start-refusal.ts';
import { unavailable } from '../../lib/errors.ts';
import type { FollowedLog, Reader, Writer } from './driver.ts';
import { fileOf, type DatabaseLocation } from './location.ts';
import { isDamage } from './connection.ts';
import { migrate } from './migrate.ts';
import type { MirrorOptions } from '../remote/mirror.ts';
import { EmbeddedReader } from './reader.ts';
import { LOG_HEADER_BYTES, PAGE_BYTES } from '../log/wal-layout.ts';
import { EmbeddedWriter, type WriterOptions } from './writer.ts';

type Family = 'project' | 'control';

/** Options for a file or a mirror. */
export interface OpenWriterOptions
  extends Omit<WriterOptions, 'commits'>, Partial<Omit<MirrorOptions, 'authority'>> {
  /**
   * The database was created before: if it is missing or empty, it is lost. Throws UNAVAILABLE instead of creating it
   * again.
   */
  readonly isMade?: boolean;
}

/** Whether a file, or its log, has more than the first page, as every database of ours does. */
export function hasTables(path: string): boolean {
  return bytesOf(path) > PAGE_BYTES || bytesOf(`${path}-wal`) > LOG_HEADER_BYTES;
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Open a writer first: it creates the database or its mirror, and updates its tables. */
export async function openReader(location: DatabaseLocation): Promise<Reader> {
  return new EmbeddedReader(fileOf(location));
}

/** Creates the database if needed and updates its tables. On a server the database must exist. */
export async function openWriter(
  location: DatabaseLocation,
  family: Family,
  options: OpenWriterOptions,
): Promise<Writer & FollowedLog> {
  if (location.kind === 'remote') {
    const { openMirror } = await import('../remote/open.ts');
    return openMirror(location, family, options);
  }
  if (options.isMade && !hasTables(location.path)) {
    throw unavailable(60, new Error(`${location.path} is missing or empty.`));
  }
  try {
    return new EmbeddedWriter(location.path, options, (one) => migrate(one, family));
  } catch (error) {
    if (!isDamage(error)) throw error;
    options.onDamage?.({ path: location.path, what: 'its structure' });
    throw new DamagedDatabase(location.path, error.message, error);
  }
}
