import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { fileChanged, localRefusal, onFile } from './faults.ts';

/** Bytes to send. */
export interface Source {
  readonly name: string;
  readonly sizeBytes: number;
  /** All bytes from the start; can be called again. Fails if the file changed since it was opened. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 256 * 1024;

/** Reads a file in chunks, so that a large one never has to fit in memory. */
export class FileSource implements Source {
  readonly name: string;
  readonly sizeBytes: number;
  readonly #file: FileHandle;
  readonly #changedMs: number;

  private constructor(name: string, file: FileHandle, sizeBytes: number, changedMs: number) {
    this.name = name;
    this.#file = file;
    this.sizeBytes = sizeBytes;
    this.#changedMs = changedMs;
  }

  /** Takes over an open file; from now on its size must not change. */
  static async of(name: string, file: FileHandle): Promise<FileSource> {
    const { size, mtimeMs } = await file.stat();
    return new FileSource(name, file, size, mtimeMs);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    while (at < this.sizeBytes) {
      // A new buffer for each chunk, because the last one may still wait in a socket.
      const room = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.sizeBytes - at));
      const bytes = await this.#read(room, at);
      if (bytes === 0) throw fileChanged(this.name);
      at += bytes;
      yield room.subarray(0, bytes);
    }
    const { size, mtimeMs } = await onFile(this.name, 'read', this.#file.stat());
    const more = await this.#read(Buffer.alloc(1), at);
    if (more > 0 || size !== this.sizeBytes || mtimeMs !== this.#changedMs) {
      throw fileChanged(this.name);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #read(room: Buffer, at: number): Promise<number> {
    const read = this.#file.read(room, 0, room.length, at);
    return (await onFile(this.name, 'read', read)).bytesRead;
  }
}

/** Small input, kept in memory. */
export class HeldSource implements Source {
  readonly name: string;
  readonly #bytes: Uint8Array;

  constructor(name: string, bytes: Uint8Array) {
    this.name = name;
    this.#bytes = bytes;
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#bytes.length > 0) yield await Promise.resolve(this.#bytes);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Opens a regular file in a synced folder. Doesn't follow a symbolic link that replaced it meanwhile, and doesn't block
 * on a pipe.
 */
export async function openPlainFile(path: string, name: string): Promise<FileSource> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await onFile(name, 'read', open(path, flags));
  try {
    if (!(await file.stat()).isFile()) throw localRefusal(`"${name}" isn't a regular file.`);
    return await FileSource.of(name, file);
  } catch (error) {
    await file.close();
    throw error;
  }
}

export async function digestOf(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.chunks()) hash.update(chunk);
  return hash.digest('hex');
}
