import type { Generations } from '../log/generations.ts';
import type { WriteAheadLog } from '../log/wal.ts';

/**
 * Above this size, an idle writer checkpoints and empties the log. Under load it checkpoints at CHECKPOINT_ANYWAY_BYTES and
 * rewrites the log in place: the longer the log gets, the longer everyone waits for the checkpoint.
 */
const TRUNCATE_IDLE_BYTES = 4 * 1024 * 1024;
/** The writer counts as idle if nobody has written for this long. */
const IDLE_MS = 250;
const CHECKPOINT_ANYWAY_BYTES = 16 * 1024 * 1024;
/** How soon to retry after a followed log couldn't rotate. */
const RETRY_MS = 60_000;

interface CheckpointsDeps {
  readonly log: WriteAheadLog;
  /** Null if no replicas can follow. */
  readonly generations: Generations | null;
  readonly isBusy: () => boolean;
  /** Runs work between two groups; after the writer was closed or has failed, never. */
  readonly alone: (work: () => Promise<void>) => void;
  /** Called after each checkpoint that may have moved the log's position. */
  readonly announce: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Decides when to checkpoint the log. The only other checkpoints are in `Generations`. They wait for readers, each of
 * which is done within a turn of the event loop.
 */
export class Checkpoints {
  readonly #deps: CheckpointsDeps;
  #checkpointAbove = CHECKPOINT_ANYWAY_BYTES;
  #usedBytes = 0;
  #lastWriteAt = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps;
  }

  /** Call it after each group. */
  async afterGroup(): Promise<void> {
    const { log, generations, onError } = this.#deps;
    this.#lastWriteAt = performance.now();
    const before = this.#usedBytes;
    this.#usedBytes = log.usedBytes();
    // Fewer bytes mean that the log restarted. If another process keeps it in use, it grows on after a checkpoint; then
    // checkpoint again only after it has grown by the same amount.
    if (this.#usedBytes < before) this.#checkpointAbove = CHECKPOINT_ANYWAY_BYTES;
    if (this.#usedBytes > TRUNCATE_IDLE_BYTES) this.#truncateWhenIdle();
    if (this.#usedBytes <= this.#checkpointAbove) return;
    this.#checkpointAbove = this.#usedBytes + CHECKPOINT_ANYWAY_BYTES;
    if (generations?.isKept) await this.truncate();
    else await log.checkpoint().catch(onError);
  }

  /** Checkpoints the log and empties it, between two groups. */
  async truncate(): Promise<void> {
    const { log, generations, announce, onError } = this.#deps;
    try {
      if (!generations?.isKept) return await log.truncate();
      const isRotated = await generations.rotate();
      announce();
      if (!isRotated) this.#truncateWhenIdle(RETRY_MS);
    } catch (error) {
      onError(error);
    }
  }

  close(): void {
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
  }

  /**
   * Under load the log grows, so that a page written ten times is checkpointed only once; pauses are used to
   * checkpoint.
   */
  #truncateWhenIdle(inMs = IDLE_MS): void {
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = null;
      const { isBusy, alone } = this.#deps;
      if (isBusy() || performance.now() - this.#lastWriteAt < IDLE_MS) this.#truncateWhenIdle();
      else alone(() => this.truncate());
    }, inMs);
  }
}
