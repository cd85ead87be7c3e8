import { randomBytes } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_INLINE_MAX_BYTES, FILE_MAX_BYTES } from '../../shared/lib/limits.ts';
import { onFile, tooLarge } from './faults.ts';
import { FileSource, HeldSource, type Source } from './source.ts';
import { writeAll } from './write-all.ts';

/**
 * Reads a stream to learn its size: small input stays in memory, larger input goes to a temporary file. Stops once it
 * exceeds the file limit.
 */
export async function spool(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<Source> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  let file: FileHandle | null = null;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > FILE_MAX_BYTES) throw tooLarge(name, null);
      held.push(chunk);
      onBytes(chunk.length);
      if (bytes <= FILE_INLINE_MAX_BYTES) continue;
      file ??= await namelessFile();
      for (const one of held.splice(0)) await writeAll(file, one, tmpdir());
    }
    return file ? await FileSource.of(name, file) : new HeldSource(name, Buffer.concat(held));
  } catch (error) {
    await file?.close();
    throw error;
  }
}

/**
 * A temporary file without a name: it's unlinked as soon as it's open, so nothing is left behind however the process
 * ends.
 */
export async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `svc-${randomBytes(12).toString('hex')}`);
  const file = await onFile(path, 'made', open(path, 'wx+', 0o600));
  try {
    await onFile(path, 'removed', unlink(path));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
