import { open, type FileHandle } from 'node:fs/promises';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import {
  COMMIT_AT,
  FRAME_BYTES,
  FRAME_CHECK_AT,
  FRAME_HEADER_BYTES,
  FRAME_SALTS_AT,
  LOG_CHECK_AT,
  LOG_HEADER_BYTES,
  LOG_MAGIC,
  LOG_SALTS_AT,
  SALTS_BYTES,
} from '../../../shared/store/log/wal-layout.ts';
import { errorCode } from '../../../shared/lib/guards.ts';
import { frameSum } from '../verify/frame-positions.ts';

/** Frames per read: 1 MB. */
const PORTION = 256;
/** A log's checksums use the byte order of the machine that created it; the magic number says which. */
const MAGIC = endianness() === 'BE' ? LOG_MAGIC + 1 : LOG_MAGIC;

/** The content of a replica's log as SQLite would see it after a crash: up to the last complete commit. */
export interface CopyLog {
  readonly frames: number;
  /** The database's size in pages after these frames; 0 if there are no frames. */
  readonly pages: number;
  /** CRC-32 of each page in the log, by page number. */
  readonly sums: ReadonlyMap<number, number>;
  /** The checksum of all frames, as in a `FramePosition`. */
  readonly sum: number;
}

/**
 * Reads at most `framesMax` frames: a killed process may have left uncommitted frames after them. It verifies the
 * checksums, because SQLite verifies them only when nobody else has the log open.
 */
export async function readCopyLog(path: string, framesMax: number): Promise<CopyLog> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return { frames: 0, pages: 0, sums: new Map(), sum: 0 };
  }
  try {
    return await readLog(file, framesMax);
  } finally {
    await file.close();
  }
}

async function readLog(file: FileHandle, framesMax: number): Promise<CopyLog> {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  const length = await readFully(file, header, 0);
  const frames = new LogFrames(header.subarray(0, length), framesMax);
  const portion = Buffer.alloc(PORTION * FRAME_BYTES);
  for (let at = LOG_HEADER_BYTES; frames.isOpen; at += portion.length) {
    const read = await readFully(file, portion, at);
    for (let start = 0; start + FRAME_BYTES <= read; start += FRAME_BYTES) {
      if (!frames.take(portion.subarray(start, start + FRAME_BYTES))) break;
    }
    if (read < portion.length) break;
  }
  return frames;
}

/** Returns the number of bytes it read; less than the buffer's size at the end of the file. */
export async function readFully(file: FileHandle, into: Buffer, position: number): Promise<number> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

class LogFrames implements CopyLog {
  frames = 0;
  pages = 0;
  readonly sums = new Map<number, number>();
  sum = 0;
  /** False after an invalid frame, or after `framesMax` frames. */
  isOpen: boolean;
  readonly #framesMax: number;
  readonly #salts: Buffer;
  #check: Checksum = [0, 0];
  #taken = 0;
  /** The checksum of the taken frames. */
  #takenSum = 0;
  /** The pages since the last commit. */
  readonly #open = new Map<number, number>();

  constructor(header: Buffer, framesMax: number) {
    this.#framesMax = framesMax;
    this.#salts = header.subarray(LOG_SALTS_AT, LOG_SALTS_AT + SALTS_BYTES);
    this.isOpen = header.length === LOG_HEADER_BYTES && header.readUInt32BE(0) === MAGIC;
    if (!this.isOpen) return;
    this.#check = added([0, 0], header.subarray(0, LOG_CHECK_AT));
    this.isOpen = framesMax > 0 && stands(this.#check, header, LOG_CHECK_AT);
  }

  take(frame: Buffer): boolean {
    const page = frame.subarray(FRAME_HEADER_BYTES);
    const check = added(added(this.#check, frame.subarray(0, FRAME_SALTS_AT)), page);
    const isOfThisLog = frame.subarray(FRAME_SALTS_AT, FRAME_CHECK_AT).equals(this.#salts);
    this.isOpen = isOfThisLog && stands(check, frame, FRAME_CHECK_AT);
    if (!this.isOpen) return false;
    this.#check = check;
    this.#taken += 1;
    this.isOpen = this.#taken < this.#framesMax;
    const [number, pageSum] = [frame.readUInt32BE(0), crc32(page)];
    this.#open.set(number, pageSum);
    this.#takenSum = frameSum(this.#takenSum, number, pageSum);
    const pages = frame.readUInt32BE(COMMIT_AT);
    if (pages > 0) this.#commit(pages);
    return this.isOpen;
  }

  #commit(pages: number): void {
    for (const [page, sum] of this.#open) this.sums.set(page, sum);
    this.#open.clear();
    this.frames = this.#taken;
    this.sum = this.#takenSum;
    this.pages = pages;
  }
}

type Checksum = readonly [number, number];

/** The running checksum of SQLite's WAL format (sqlite.org/fileformat2.html, section 4.2). */
function added([first, second]: Checksum, bytes: Buffer): Checksum {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  for (let at = 0; at < words.length; at += 2) {
    first = (first + (words[at] ?? 0) + second) | 0;
    second = (second + (words[at + 1] ?? 0) + first) | 0;
  }
  return [first, second];
}

function stands([first, second]: Checksum, bytes: Buffer, at: number): boolean {
  return bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second;
}
