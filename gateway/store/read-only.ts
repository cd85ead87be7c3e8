import type { Reader } from '../../shared/store/driver.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';
import { openReader } from '../../shared/store/open.ts';
import { EmbeddedReader } from '../../shared/store/reader.ts';

/** A reader beside whoever has the database open, or without anybody: of a file it changes nothing, its log included. */
export async function openReadOnly(location: DatabaseLocation): Promise<Reader> {
  return location.kind === 'file'
    ? new EmbeddedReader(location.path, { readOnly: true })
    : openReader(location);
}
