import { fork, type ChildProcess } from 'node:child_process';
import type { Logger } from 'pino';
import type { DamageRegister } from '../../shared/store/sums/damage.ts';
import type { ScrubResult } from './scrub.ts';
import { readScrubState } from './scrub-state.ts';

/** In the bundle, the process's file is next to this one; from source, in development, tsx loads it. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './scrub-source.mjs' : './scrub.js',
  import.meta.url,
);
const DAY_MS = 86_400_000;
/** After a start, others get the disk first. */
const FIRST_MS = 60_000;
const LOOK_MS = 600_000;

interface ScrubberDeps {
  readonly dataFolder: string;
  readonly damage: DamageRegister;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
}

/** Scrubs the whole data folder once a day, in a process that yields to all others. */
export class Scrubber {
  readonly #deps: ScrubberDeps;
  #timer: NodeJS.Timeout | null = null;
  #child: ChildProcess | null = null;
  #isClosed = false;

  constructor(deps: ScrubberDeps) {
    this.#deps = deps;
  }

  /** `isCrashed`: the last process didn't close its files, so that all of them are looked at soon. */
  start(isCrashed: boolean): void {
    this.#in(FIRST_MS, isCrashed);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#child?.kill();
  }

  #in(ms: number, isUrgent = false): void {
    this.#timer = setTimeout(() => {
      if (isUrgent || this.#isDue()) this.#run();
      else this.#in(LOOK_MS);
    }, ms).unref();
  }

  #isDue(): boolean {
    const last = readScrubState(this.#deps.dataFolder);
    return last?.finishedAt == null || Math.abs(this.#deps.now() - last.startedAt) >= DAY_MS;
  }

  #run(): void {
    const { dataFolder, damage, log } = this.#deps;
    const { SVC_API_KEY: _, ...env } = process.env;
    const child = fork(ENTRY, [dataFolder], {
      env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.on('message', ({ databases, blobs, bytes }: ScrubResult) => {
      // Listing tells the log what the other process has found.
      const damaged = damage.list().length;
      log.info({ databases, blobs, bytes, damaged }, 'all data was compared with its sums');
    });
    child.on('error', (error) => log.warn({ err: error }, 'the check of the data failed'));
    child.once('close', (code) => {
      this.#child = null;
      damage.list();
      if (this.#isClosed) return;
      if (code !== 0) log.warn({ code, said: said.slice(-2000) }, 'the check of the data failed');
      this.#in(LOOK_MS);
    });
  }
}
