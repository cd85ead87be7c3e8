import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import {
  COMMIT_AT,
  FRAME_BYTES,
  FRAME_HEADER_BYTES,
  FRAME_SALTS_AT,
  LOG_HEADER_BYTES,
  LOG_SALTS_AT,
  SALTS_BYTES,
} from '../../shared/store/log/wal-layout.ts';
import { areSound } from '../../shared/store/log/log-frames.ts';
import { isMissing } from '../blobs/blob-store.ts';

/** A range of a log's frames by number, without its end. */
export interface FrameRange {
  readonly from: number;
  readonly to: number;
}

/** A frame from this number on has a wrong checksum: nobody may get it. */
export class BrokenFrames extends Error {
  readonly from: number;

  constructor(from: number) {
    super(`The log is broken after frame ${from - 1}.`);
    this.from = from;
  }
}

/**
 * Reads frames of the current log as they are in the file. Null if the log was restarted meanwhile; the archive has the
 * frames with these salts then. Throws `BrokenFrames`.
 */
export function readLive(path: string, range: FrameRange, salts: string): Promise<Buffer | null> {
  return withFile(path, null, async (file) => {
    const frames = await readWhole(file, offsetOf(range.from), sizeOf(range));
    if (!frames || !haveSalts(frames, salts)) return null;
    const isSound = await areWhole(file, range.from, frames);
    // Check this last: a restart writes the header before it overwrites the first frame.
    if ((await logSalts(file)) !== salts) return null;
    if (!isSound) throw new BrokenFrames(range.from);
    return frames;
  });
}

/**
 * Reads frames of an archived log; an empty buffer if the log ends before them. Null if the archive doesn't exist, ends
 * before `from`, doesn't end with a transaction, or has a broken frame there.
 */
export function readArchived(path: string, range: FrameRange): Promise<Buffer | null> {
  return withFile(path, null, async (file) => {
    const { size } = await file.stat();
    const count = (size - LOG_HEADER_BYTES) / FRAME_BYTES;
    const salts = await logSalts(file);
    if (salts === null || !Number.isInteger(count) || range.from > count + 1) return null;
    if (range.from > count) return (await endsTransaction(file, count)) ? Buffer.alloc(0) : null;
    const part = { from: range.from, to: Math.min(range.to, count + 1) };
    const frames = await readWhole(file, offsetOf(part.from), sizeOf(part));
    if (!frames || !haveSalts(frames, salts)) return null;
    return (await areWhole(file, part.from, frames)) ? frames : null;
  });
}

/** Whether these frames, from this number on, have the checksums that the frame before them asks for. */
async function areWhole(file: FileHandle, from: number, frames: Buffer): Promise<boolean> {
  const log = await readWhole(file, 0, LOG_HEADER_BYTES);
  const before = from === 1 ? log : await readWhole(file, offsetOf(from - 1), FRAME_HEADER_BYTES);
  return log !== null && before !== null && areSound(frames, before, log);
}

async function withFile<T>(
  path: string,
  missing: T,
  read: (file: FileHandle) => Promise<T>,
): Promise<T> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY);
  } catch (error) {
    if (isMissing(error)) return missing;
    throw error;
  }
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

/** Null if the file is shorter. */
async function readWhole(
  file: FileHandle,
  position: number,
  sizeBytes: number,
): Promise<Buffer | null> {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, position);
  return bytesRead === sizeBytes ? bytes : null;
}

function offsetOf(frame: number): number {
  return LOG_HEADER_BYTES + (frame - 1) * FRAME_BYTES;
}

function sizeOf({ from, to }: FrameRange): number {
  return (to - from) * FRAME_BYTES;
}

async function logSalts(file: FileHandle): Promise<string | null> {
  const salts = await readWhole(file, LOG_SALTS_AT, SALTS_BYTES);
  return salts && salts.toString('hex');
}

function haveSalts(frames: Buffer, salts: string): boolean {
  for (let at = FRAME_SALTS_AT; at < frames.length; at += FRAME_BYTES) {
    if (frames.toString('hex', at, at + SALTS_BYTES) !== salts) return false;
  }
  return true;
}

/** A client gives up for good if a log ends in the middle of a transaction. */
async function endsTransaction(file: FileHandle, count: number): Promise<boolean> {
  if (count === 0) return true;
  const pages = await readWhole(file, offsetOf(count) + COMMIT_AT, 4);
  return pages !== null && pages.readUInt32BE() > 0;
}
