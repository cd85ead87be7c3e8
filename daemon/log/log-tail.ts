import { open, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../shared/lib/guards.ts';

const CHUNK_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 250;
const NEWLINE = 0x0a;

/** The last lines of a file, read from its end; empty if there's no file. */
export async function lastLines(path: string, count: number): Promise<string[]> {
  const file = await openIfThere(path);
  if (!file) return [];
  try {
    let start = (await file.stat()).size;
    let bytes: Buffer = Buffer.alloc(0);
    // Read one newline more than lines: the first line may begin before this chunk.
    while (start > 0 && newlines(bytes) <= count) {
      const from = Math.max(0, start - CHUNK_BYTES);
      bytes = Buffer.concat([await readAt(file, from, start - from), bytes]);
      start = from;
    }
    const lines = bytes.toString('utf8').split('\n').filter(Boolean);
    return count === 0 ? [] : lines.slice(-count);
  } finally {
    await file.close();
  }
}

/** Passes on each complete line that a writer appends from now on, even after a rotation. */
export async function followLines(
  path: string,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let follower = await Follower.at(path, 'end');
  try {
    while (!signal.aborted) {
      await follower?.drain(onLine);
      if (!follower || (await follower.wasReplaced(path))) {
        const next = await Follower.at(path, 'start');
        if (next) {
          await follower?.drain(onLine);
          await follower?.close();
          follower = next;
          continue;
        }
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await follower?.close();
  }
}

/** Follows one file by its handle, so it still sees lines written after a rename. */
class Follower {
  readonly #file: FileHandle;
  readonly #inode: number;
  #position: number;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(file: FileHandle, inode: number, position: number) {
    this.#file = file;
    this.#inode = inode;
    this.#position = position;
  }

  static async at(path: string, where: 'start' | 'end'): Promise<Follower | null> {
    const file = await openIfThere(path);
    if (!file) return null;
    const { ino, size } = await file.stat();
    return new Follower(file, ino, where === 'end' ? size : 0);
  }

  async drain(onLine: (line: string) => void): Promise<void> {
    const { size } = await this.#file.stat();
    // Somebody truncated the file.
    if (size < this.#position) this.#position = 0;
    while (this.#position < size) {
      const chunk = await readAt(
        this.#file,
        this.#position,
        Math.min(CHUNK_BYTES, size - this.#position),
      );
      if (chunk.length === 0) return;
      this.#position += chunk.length;
      const bytes = Buffer.concat([this.#rest, chunk]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      this.#rest = bytes.subarray(end);
      for (const line of bytes.toString('utf8', 0, end).split('\n').filter(Boolean)) onLine(line);
    }
  }

  async wasReplaced(path: string): Promise<boolean> {
    const now = await stat(path).catch(() => null);
    return now !== null && now.ino !== this.#inode;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function newlines(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === NEWLINE) count += 1;
  return count;
}
