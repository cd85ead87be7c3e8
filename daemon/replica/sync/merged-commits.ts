import { COMMIT_AT, FRAME_BYTES } from '../../../shared/store/log/wal-layout.ts';

/** Frames for the client that stand for the first `taken` frames of the gateway's. */
export interface PassedFrames {
  readonly frames: Buffer;
  readonly taken: number;
  readonly endsCommit: boolean;
}

/**
 * All complete commits of these frames as a single one, with only the newest version of each page. The client syncs two
 * files for each commit, and would overwrite a page that comes twice in one, so that its frames got other numbers.
 * Frames without the end of a commit stay as they are.
 */
export function mergeCommits(frames: Buffer): PassedFrames {
  const taken = lastCommit(frames);
  if (taken === 0) return asTheyAre(frames);
  const newest = new Map<number, Buffer>();
  for (let at = 0; at < taken * FRAME_BYTES; at += FRAME_BYTES) {
    const frame = frames.subarray(at, at + FRAME_BYTES);
    const page = frame.readUInt32BE(0);
    // A map keeps its order: the frame that ends the last commit must be the last one.
    newest.delete(page);
    newest.set(page, frame);
  }
  const merged = Buffer.concat([...newest.values()]);
  const end = merged.length - FRAME_BYTES;
  for (let at = 0; at < end; at += FRAME_BYTES) merged.writeUInt32BE(0, at + COMMIT_AT);
  return { frames: merged, taken, endsCommit: true };
}

/** The rest of a commit that has begun; all frames if it goes on after them. */
export function restOfCommit(frames: Buffer): PassedFrames {
  for (let at = 0; at < frames.length; at += FRAME_BYTES) {
    if (isCommit(frames, at)) return asTheyAre(frames.subarray(0, at + FRAME_BYTES), true);
  }
  return asTheyAre(frames);
}

function asTheyAre(frames: Buffer, endsCommit = false): PassedFrames {
  return { frames, taken: frames.length / FRAME_BYTES, endsCommit };
}

/** How many frames there are up to the end of the last complete commit. */
function lastCommit(frames: Buffer): number {
  let at = frames.length - FRAME_BYTES;
  while (at >= 0 && !isCommit(frames, at)) at -= FRAME_BYTES;
  return at / FRAME_BYTES + 1;
}

/** The header of a commit's last frame has the database's size there; other frames have 0. */
function isCommit(frames: Buffer, at: number): boolean {
  return frames.readUInt32BE(at + COMMIT_AT) > 0;
}
