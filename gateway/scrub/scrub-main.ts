import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { scrub } from './scrub.ts';

/** Reads this much, then lets the disk to others. */
const PORTION_BYTES = 8 * 1024 * 1024;
/** The pause is this many times as long as the reading took, so that a slow or busy disk is left alone for longer. */
const PAUSE_TIMES = 9;
const PAUSE_MIN_MS = 100;

/** The process that scrubs a data folder in the background; its one argument is the folder. */
const [dataFolder = ''] = process.argv.slice(2);
const LOWEST = 19;

let portion = 0;
let begunAt = performance.now();

async function pace(bytes: number): Promise<void> {
  portion += bytes;
  if (portion < PORTION_BYTES) return;
  portion = 0;
  await sleep(Math.max(PAUSE_MIN_MS, PAUSE_TIMES * (performance.now() - begunAt)));
  begunAt = performance.now();
}

setPriority(LOWEST);
// The gateway has ended, and so does this.
process.on('disconnect', () => process.exit());
const result = await scrub({ dataFolder, now: () => Date.now(), pace });
process.send?.(result);
process.disconnect?.();
