import type { Reader } from '../../shared/store/engine/driver.ts';
import type { DatabaseLocation } from '../../shared/store/engine/location.ts';
import { EmbeddedReader } from '../../shared/store/engine/reader.ts';

/**
 * Opens a reader, whether or not another process has the database open. It never changes a file or its log, and reads a
 * server itself, not a mirror.
 */
export async function openReadOnly(location: DatabaseLocation): Promise<Reader> {
  if (location.kind === 'file') return new EmbeddedReader(location.path, { readOnly: true });
  const { openRemoteReader } = await import('../../shared/store/remote/open.ts');
  return openRemoteReader(location);
}
