import {
  LOG_START,
  positionAfter,
  type FramePosition,
  type FramePositions,
} from './frame-positions.ts';
import { mergeCommits, restOfCommit, type PassedFrames } from '../sync/merged-commits.ts';
import type { ReplicaFolder } from '../sync/replica-folder.ts';

/**
 * Passes the gateway's frames on to the client, and remembers which numbers they have in both logs. A crash may come
 * before the client has committed what it gets, or after that: so the folder has both places before it gets anything.
 */
export class FrameNumbers {
  readonly #folder: Pick<ReplicaFolder, 'readPositions' | 'writePositions'>;
  #generation = 0;
  /** The ends of the client's last commit, and of the one that it may be writing. */
  #positions: readonly FramePosition[] = [];
  /** Where the client is inside a commit that came in several answers. */
  #inside: FramePosition | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: Pick<ReplicaFolder, 'readPositions' | 'writePositions'>) {
    this.#folder = folder;
  }

  /** The place after the client's first `ours` frames of a generation; null if we don't know it. */
  find(generation: number, ours: number): FramePosition | null {
    if (ours === 0) return LOG_START;
    if (generation !== this.#generation) this.#load(generation);
    return [...this.#positions, this.#inside].find((position) => position?.ours === ours) ?? null;
  }

  /** What the client gets for the gateway's `frames` after `position`, which `find` returned. */
  async pass(generation: number, position: FramePosition, frames: Buffer): Promise<PassedFrames> {
    const isInside = position === this.#inside;
    const passed = isInside ? restOfCommit(frames) : mergeCommits(frames);
    const next = positionAfter(position, passed.frames, passed.taken);
    this.#generation = generation;
    if (!isInside) this.#positions = [position];
    this.#inside = passed.endsCommit ? null : next;
    if (passed.endsCommit) {
      this.#positions = [...this.#positions.slice(0, 1), next];
      await this.#write({ generation, places: this.#positions });
    }
    return passed;
  }

  /** One at a time: a client may be killed and its successor ask while this is under way. */
  #write(places: FramePositions): Promise<void> {
    const written = this.#writing.then(() => this.#folder.writePositions(places));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  #load(generation: number): void {
    const known = this.#folder.readPositions();
    this.#positions = known?.generation === generation ? known.places : [];
    this.#generation = generation;
    this.#inside = null;
  }
}
