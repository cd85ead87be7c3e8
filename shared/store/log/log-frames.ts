import { readSync } from 'node:fs';
import { endianness } from 'node:os';
import { DAMAGED_SUM, pageSum } from '../sums/page-sums.ts';
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
} from './wal-layout.ts';

const CHUNK_FRAMES = 256;
const IS_BIG_ENDIAN_HERE = endianness() === 'BE';

/** Salts, or SQLite's checksum of a log: each frame's is computed from that of the frame before it. */
type Pair = readonly [number, number];

/** What a log has, from its first frame to the last one with the salts of its header. */
export interface LogContent {
  /** As hex; null without a header. */
  readonly salts: string | null;
  /** The frames with these salts. */
  readonly frames: number;
  /** The sum of each page in its newest committed frame, by number. */
  readonly pages: ReadonlyMap<number, number>;
  /** Pages that any frame with these salts holds, also of a transaction that wasn't committed. */
  readonly touched: ReadonlySet<number>;
  /** The size of the database in pages after the newest commit. */
  readonly databasePages: number;
  /** Frames whose checksum is wrong though a later transaction has begun, so that they were once whole. 0: the header. */
  readonly broken: readonly number[];
}

const NOTHING: LogContent = {
  salts: null,
  frames: 0,
  pages: new Map(),
  touched: new Set(),
  databasePages: 0,
  broken: [],
};

interface ScanOptions {
  /** The last transaction is known to be committed, so that a broken frame in it is damage as well. */
  readonly isWhole?: boolean;
}

/** Reads a log from an open file, if there is one, and compares all checksums. */
export function scanLog(file: number | null, options: ScanOptions = {}): LogContent {
  const { isWhole = false } = options;
  if (file === null) return NOTHING;
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  if (readSync(file, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return NOTHING;
  const log = headerOf(header);
  // A power cut leaves zeros where the header of a new log was to be.
  if (!log) return header.every((byte) => byte === 0) ? NOTHING : { ...NOTHING, broken: [0] };
  const scan = new Scan(log);
  const chunk = Buffer.alloc(CHUNK_FRAMES * FRAME_BYTES);
  for (let at = LOG_HEADER_BYTES; ;) {
    const read = readSync(file, chunk, 0, chunk.length, at);
    const whole = Math.floor(read / FRAME_BYTES);
    const words = wordsOf(chunk, log.isBigEndian);
    for (let index = 0; index < whole; index += 1) {
      if (!scan.add(chunk, words, index * FRAME_BYTES)) return scan.content(isWhole);
    }
    if (read < chunk.length) break;
    at += read;
  }
  return scan.content(isWhole);
}

/**
 * The pages of a log's first frames, all of which are committed. Goes from the last frame back and looks at each page's
 * newest frame alone, because a busy log has the same pages many times.
 */
export function scanNewest(
  file: number,
  frames: number,
): Pick<LogContent, 'salts' | 'pages' | 'databasePages' | 'broken'> {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  readSync(file, header, 0, LOG_HEADER_BYTES, 0);
  const log = headerOf(header);
  if (!log) return { ...NOTHING, broken: [0] };
  const pages = new Map<number, number>();
  const broken: number[] = [];
  let databasePages = 0;
  // The frame before a chunk is read along, for its checksum.
  const chunk = Buffer.alloc((1 + CHUNK_FRAMES) * FRAME_BYTES);
  for (let end = frames; end > 0; end -= CHUNK_FRAMES) {
    const first = Math.max(0, end - CHUNK_FRAMES);
    const from = Math.max(0, first - 1);
    const bytes = chunk.subarray(0, (end - from) * FRAME_BYTES);
    const read = readSync(file, bytes, 0, bytes.length, LOG_HEADER_BYTES + from * FRAME_BYTES);
    if (read < bytes.length) throw new Error(`The log has fewer than ${end} frames.`);
    const words = wordsOf(bytes, log.isBigEndian);
    if (databasePages === 0) databasePages = bytes.readUInt32BE(read - FRAME_BYTES + COMMIT_AT);
    for (let frame = end; frame > first; frame -= 1) {
      const at = (frame - 1 - from) * FRAME_BYTES;
      const page = bytes.readUInt32BE(at);
      if (pages.has(page)) continue;
      const before = frame === 1 ? log.check : storedAt(bytes, at - FRAME_BYTES + FRAME_CHECK_AT);
      const stored = storedAt(bytes, at + FRAME_CHECK_AT);
      const isSound =
        isSame(storedAt(bytes, at + FRAME_SALTS_AT), log.saltNumbers) &&
        isSame(frameChecksum(before, words, at), stored);
      if (!isSound) broken.push(frame);
      pages.set(page, frameSum(bytes, at, isSound));
    }
  }
  return { salts: log.salts, pages, databasePages, broken: broken.toReversed() };
}

/** Nobody knows what a broken frame should hold. */
function frameSum(bytes: Buffer, at: number, isSound: boolean): number {
  return isSound ? pageSum(bytes.subarray(at + FRAME_HEADER_BYTES, at + FRAME_BYTES)) : DAMAGED_SUM;
}

interface LogHeader {
  readonly salts: string;
  readonly saltNumbers: Pair;
  readonly check: Pair;
  readonly isBigEndian: boolean;
}

/** Null for bytes that aren't a sound header. */
function headerOf(header: Buffer): LogHeader | null {
  const magic = header.readUInt32BE(0);
  if ((magic & ~1) !== LOG_MAGIC) return null;
  const isBigEndian = (magic & 1) === 1;
  const check = checksum([0, 0], wordsOf(header, isBigEndian), { from: 0, to: LOG_CHECK_AT });
  if (!isSame(check, storedAt(header, LOG_CHECK_AT))) return null;
  const salts = header.toString('hex', LOG_SALTS_AT, LOG_SALTS_AT + SALTS_BYTES);
  const saltNumbers = storedAt(header, LOG_SALTS_AT);
  return { salts, saltNumbers, check, isBigEndian };
}

class Scan {
  frames = 0;
  readonly #log: LogHeader;
  readonly #pages = new Map<number, number>();
  readonly #touched = new Set<number>();
  readonly #broken: number[] = [];
  /** Of the transaction that the last frame belongs to. */
  #open = new Map<number, number>();
  #openBroken: number[] = [];
  #databasePages = 0;
  #check: Pair;

  constructor(log: LogHeader) {
    this.#log = log;
    this.#check = log.check;
  }

  /** Adds the frame at a place in a chunk, whose words these are. False for a frame of an earlier log. */
  add(chunk: Buffer, words: Uint32Array, at: number): boolean {
    const [salt1, salt2] = this.#log.saltNumbers;
    const saltsAt = at + FRAME_SALTS_AT;
    if (chunk.readUInt32BE(saltsAt) !== salt1 || chunk.readUInt32BE(saltsAt + 4) !== salt2) {
      return false;
    }
    if (this.#open.size === 0 && this.#openBroken.length > 0) {
      // Another transaction follows, so the one before was on the disk.
      this.#broken.push(...this.#openBroken);
      this.#openBroken = [];
    }
    this.frames += 1;
    const page = chunk.readUInt32BE(at);
    const stored = storedAt(chunk, at + FRAME_CHECK_AT);
    const isSound = isSame(frameChecksum(this.#check, words, at), stored);
    if (!isSound) this.#openBroken.push(this.frames);
    // The next frame's checksum continues the stored one, so one broken frame doesn't break all after it.
    this.#check = stored;
    this.#touched.add(page);
    this.#open.set(page, frameSum(chunk, at, isSound));
    const databasePages = chunk.readUInt32BE(at + COMMIT_AT);
    if (databasePages > 0) this.#commit(databasePages);
    return true;
  }

  #commit(databasePages: number): void {
    for (const [page, sum] of this.#open) this.#pages.set(page, sum);
    this.#open = new Map();
    this.#databasePages = databasePages;
  }

  content(isWhole: boolean): LogContent {
    return {
      salts: this.#log.salts,
      frames: this.frames,
      pages: this.#pages,
      touched: this.#touched,
      databasePages: this.#databasePages,
      broken: isWhole ? [...this.#broken, ...this.#openBroken] : this.#broken,
    };
  }
}

/**
 * Whether frames that follow each other in a log have the checksums that the frame before them asks for: `before` is
 * that frame's header, or the header of the log.
 */
export function areSound(frames: Buffer, before: Buffer, log: Buffer): boolean {
  const words = wordsOf(frames, (log.readUInt32BE(0) & 1) === 1);
  const at = before.length === LOG_HEADER_BYTES ? LOG_CHECK_AT : FRAME_CHECK_AT;
  let check = storedAt(before, at);
  for (let start = 0; start < frames.length; start += FRAME_BYTES) {
    check = frameChecksum(check, words, start);
    if (!isSame(check, storedAt(frames, start + FRAME_CHECK_AT))) return false;
  }
  return true;
}

function storedAt(bytes: Buffer, at: number): Pair {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isSame([one, two]: Pair, [first, second]: Pair): boolean {
  return one === first && two === second;
}

/** Of the first 8 bytes of a frame's header and its page. `at` is in bytes. */
function frameChecksum(before: Pair, words: Uint32Array, at: number): Pair {
  const ofHeader = checksum(before, words, { from: at, to: at + FRAME_SALTS_AT });
  return checksum(ofHeader, words, { from: at + FRAME_HEADER_BYTES, to: at + FRAME_BYTES });
}

/** The range is in bytes. */
function checksum(
  [first, second]: Pair,
  words: Uint32Array,
  { from, to }: { readonly from: number; readonly to: number },
): Pair {
  let [one, two] = [first, second];
  for (let index = from / 4; index < to / 4; index += 2) {
    one = (one + (words[index] ?? 0) + two) | 0;
    two = (two + (words[index + 1] ?? 0) + one) | 0;
  }
  return [one >>> 0, two >>> 0];
}

function wordsOf(bytes: Buffer, isBigEndian: boolean): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (isBigEndian === IS_BIG_ENDIAN_HERE && byteOffset % 4 === 0) {
    return new Uint32Array(buffer, byteOffset, byteLength / 4);
  }
  const copy = Buffer.alloc(byteLength, bytes);
  if (isBigEndian !== IS_BIG_ENDIAN_HERE) copy.swap32();
  return new Uint32Array(copy.buffer, copy.byteOffset, byteLength / 4);
}
