import { EXIT } from './exit.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's disk quota is used up",
  EIO: 'the disk or the terminal failed',
};

/** Ends the command when standard output can no longer be written, because its reader stopped or its disk is full. */
export class LostOutput {
  readonly #undo: (() => Promise<unknown>)[] = [];

  /** What to do before the process ends, because nobody learnt what the command did. */
  undo(work: () => Promise<unknown>): void {
    this.#undo.push(work);
  }

  /** Undoes what it can, says why on standard error, and returns the exit code. A reader may stop early, as `head` does. */
  async end(
    { code = '' }: NodeJS.ErrnoException,
    tell: (text: string) => unknown,
  ): Promise<number> {
    await Promise.allSettled(this.#undo.map((work) => work()));
    if (code === 'EPIPE') return EXIT.done;
    const reason = REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`;
    tell(`LOCAL_FILE: Standard output can't be written: ${reason}.\n`);
    return EXIT.refused;
  }
}
