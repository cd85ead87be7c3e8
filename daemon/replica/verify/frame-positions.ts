import { crc32 } from 'node:zlib';
import { isObject, parseObject } from '../../../shared/lib/guards.ts';
import { FRAME_BYTES, FRAME_HEADER_BYTES } from '../../../shared/store/log/wal-layout.ts';

/** The end of some frames. The gateway's log has more of them than ours, which gets several commits as one. */
export interface FramePosition {
  /** How many frames our log has up to here. */
  readonly ours: number;
  /** How many the gateway's log has. */
  readonly theirs: number;
  /** A checksum of our frames, which ties this place to their content. */
  readonly sum: number;
}

/** Places in one generation where a commit ends. */
export interface FramePositions {
  readonly generation: number;
  readonly places: readonly FramePosition[];
}

/** The start of every generation. */
export const LOG_START: FramePosition = { ours: 0, theirs: 0, sum: 0 };

const pair = Buffer.alloc(8);

/** Continues the checksum of frames with the next one. `pageSum` is the CRC-32 of its page. */
export function frameSum(before: number, page: number, pageSum: number): number {
  pair.writeUInt32BE(page, 0);
  pair.writeUInt32BE(pageSum, 4);
  return crc32(pair, before);
}

/** The place after these frames. They stand for `theirs` frames of the gateway's log. */
export function positionAfter(
  before: FramePosition,
  frames: Buffer,
  theirs: number,
): FramePosition {
  let { sum } = before;
  for (let at = 0; at < frames.length; at += FRAME_BYTES) {
    const page = frames.subarray(at + FRAME_HEADER_BYTES, at + FRAME_BYTES);
    sum = frameSum(sum, frames.readUInt32BE(at), crc32(page));
  }
  return {
    ours: before.ours + frames.length / FRAME_BYTES,
    theirs: before.theirs + theirs,
    sum,
  };
}

/** Null for anything that isn't a text of `JSON.stringify(places)`. */
export function readPositions(text: string): FramePositions | null {
  const value = parseObject(text);
  const { generation, places } = value ?? {};
  if (!isCount(generation) || !Array.isArray(places)) return null;
  return places.every(isPosition) ? { generation, places } : null;
}

function isPosition(value: unknown): value is FramePosition {
  return isObject(value) && [value['ours'], value['theirs'], value['sum']].every(isCount);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
