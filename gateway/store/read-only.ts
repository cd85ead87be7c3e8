import type { Reader } from '../../shared/store/driver.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';
import { openReader } from '../../shared/store/open.ts';
import { EmbeddedReader } from '../../shared/store/reader.ts';

/** Opens a reader, whether or not another process has the database open. It never changes a file or its log. */
export async function openReadOnly(location: DatabaseLocation): Promise<Reader> {
  return location.kind === 'file'
    ? new EmbeddedReader(location.path, { readOnly: true })
    : openReader(location);
}
