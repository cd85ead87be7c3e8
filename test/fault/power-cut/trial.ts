import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './check.ts';
import { Disk } from './disk.ts';
import { Driver, NotDone } from './driver.ts';
import { Receiver } from './receiver.ts';
import { factsIn, replay } from './recording.ts';
import { Random } from './random.ts';
import { Scenario } from './scenario.ts';
import { readLog, type Faults, type LogRecord } from './shim.ts';
import { ShimmedDaemon } from './shimmed-daemon.ts';

const AGAIN_MS = 40;
/** The disk fails once, so a caller that keeps asking should be served by then. */
const PATIENCE_MS = 60_000;

export interface Trial {
  /** The fault came: the daemon did not get through with everything before it. */
  readonly isReached: boolean;
  /** The exit code, null after a signal, undefined where it lived until it was told to end. */
  readonly died: number | null | undefined;
  /** The statuses of answers that were no success. */
  readonly refused: readonly number[];
  readonly problems: readonly string[];
}

/**
 * Plays the scenario with one fault, repeating refused calls; if the daemon ends, it starts again without the fault.
 * Checks the data in between and at the end.
 */
export async function trial(
  folder: string,
  options: { library: string; faults: Faults; rotates: boolean },
): Promise<Trial> {
  const stage = new Stage(folder, options);
  try {
    return await stage.play();
  } finally {
    await stage.clear();
  }
}

class Stage {
  readonly #folder: string;
  readonly #home: string;
  readonly #log: string;
  readonly #options: { library: string; faults: Faults; rotates: boolean };
  readonly #refused: number[] = [];
  readonly #problems: string[] = [];
  #whyNot = '';
  #daemon: ShimmedDaemon | null = null;
  #receiver: Receiver | null = null;

  constructor(folder: string, options: { library: string; faults: Faults; rotates: boolean }) {
    this.#folder = folder;
    this.#home = join(folder, 'home');
    this.#log = join(folder, 'records');
    this.#options = options;
  }

  async play(): Promise<Trial> {
    const { library, faults, rotates } = this.#options;
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    const disk = new Disk(this.#home);
    const receiver = await Receiver.start(this.#log);
    this.#receiver = receiver;
    const { pushed, url } = receiver;
    const scenario = new Scenario({ pushed, receiver: url }, { rotates });
    const shim = { library, log: this.#log, faults };
    const died = await this.#playOn(scenario, ShimmedDaemon.start(this.#home, shim));
    const records = readLog(this.#log);
    const isReached =
      records.some(({ op }) => 'KFX'.includes(op)) || faults.fail?.startsWith('short') === true;
    await receiver.whileAway(() => this.#lookAfterwards(disk, records));
    if (died !== undefined) {
      const again = await this.#playOn(scenario, ShimmedDaemon.start(this.#home, null));
      if (again !== undefined)
        this.#problems.push(`damaged: it ended again: ${this.#daemon?.output}`);
    }
    if (!scenario.isOver) this.#problems.push(`damaged: not all could be done: ${this.#whyNot}`);
    this.#problems.push(...(await check(this.#home, factsIn(readLog(this.#log)))));
    return { isReached, died, refused: this.#refused, problems: this.#problems };
  }

  async clear(): Promise<void> {
    this.#receiver?.close();
    await this.#daemon?.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Plays until everything is done and the daemon was stopped, or until it ends early. */
  async #playOn(scenario: Scenario, daemon: ShimmedDaemon): Promise<number | null | undefined> {
    this.#daemon = daemon;
    const running = await daemon.ready();
    if (!running) return daemon.ended;
    const driver = new Driver(running, join(this.#home, 'data'), this.#log);
    driver.done({ kind: 'ready', key: running.key, project: running.project });
    const endsAt = performance.now() + PATIENCE_MS;
    while (!scenario.isOver && !daemon.hasEnded && performance.now() < endsAt) {
      try {
        await scenario.run(driver);
      } catch (error) {
        if (!(error instanceof NotDone)) throw error;
        this.#note(error);
        await sleep(AGAIN_MS);
      }
    }
    if (daemon.hasEnded) return daemon.ended;
    const code = await daemon.end();
    return code === 0 ? undefined : code;
  }

  #note({ status, message }: NotDone): void {
    this.#whyNot = message;
    if (status > 0) this.#refused.push(status);
    if (status > 0 && status < 500) this.#problems.push(`damaged: ${message}`);
  }

  /** Checks what's left without the pages that were never synced: a failed disk may lose them. */
  async #lookAfterwards(disk: Disk, records: readonly LogRecord[]): Promise<void> {
    const cut = { at: records.length, luck: 'nothing' as const };
    const folder = join(this.#folder, 'afterwards');
    const { findings } = await replay({ disk, records }, [cut], { folder, random: new Random(1) });
    for (const { problems } of findings) {
      this.#problems.push(...problems.map((line) => `without what is not synced, ${line}`));
    }
  }
}
