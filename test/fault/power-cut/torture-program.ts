import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import freshBuild from '../../helpers/build.ts';
import { cutsAtEach, someCuts } from './cuts.ts';
import { Random } from './random.ts';
import { recordLoad, recordMigration, recordScenario } from './record.ts';
import { replay, type Cut, type Recording } from './recording.ts';
import { chooseSeed } from './seed.ts';
import { compileShim, type Faults } from './shim.ts';
import { trial } from './trial.ts';

/** A scenario has fewer syncs and writes than this. */
const POINTS_MAX = 100_000;

interface Figures {
  readonly [name: string]: number;
}

/**
 * Tries every disk fault, however long that takes. Figures go to standard output; faults found go to standard error and
 * make the exit code 1.
 *
 *     npx tsx test/fault/power-cut/torture-program.ts --parts cuts,kills,killed,errors,migration --images 300
 */
class Torture {
  readonly #folder: string;
  readonly #library: string;
  readonly #random: Random;
  readonly #stride: number;
  problems = 0;

  constructor(folder: string, options: { seed: number; stride: number }) {
    this.#folder = folder;
    this.#library = compileShim(folder);
    this.#random = new Random(options.seed);
    this.#stride = options.stride;
  }

  /** Power cuts under load: `images` images, sixty from each run. */
  async cuts(images: number): Promise<Figures> {
    const sums = { images: 0, acknowledged: 0, lost: 0, damaged: 0 };
    while (sums.images < images) {
      const { wrong, ...recording } = await recordLoad(this.#place(), { seconds: 5 });
      for (const line of wrong) this.#say(line);
      const count = Math.min(60, images - sums.images);
      const outcome = await this.#replay(
        recording,
        someCuts(recording.records, count, this.#random),
      );
      sums.images += outcome.images;
      sums.acknowledged += outcome.acknowledged;
      sums.lost += outcome.lost;
      sums.damaged += outcome.damaged;
    }
    return sums;
  }

  /** Kills before each change of the disk, made from the log: the disk has everything up to that record. */
  async kills(): Promise<Figures> {
    const recording = await recordScenario(this.#place());
    const { records } = recording;
    return this.#replay(recording, cutsAtEach(records, 'everything', this.#each()));
  }

  /** The same with a new database in place of an old one, and with the power gone. */
  async migration(): Promise<Figures> {
    const recording = await recordMigration(this.#place());
    const cuts = (['everything', 'nothing', 'mixed'] as const).flatMap((luck) =>
      cutsAtEach(recording.records, luck, this.#each()),
    );
    return this.#replay(recording, cuts);
  }

  /** Really kills a process there, restarts it, and lets it finish. */
  killed(): Promise<Figures> {
    return this.#trials((killAt) => ({ killAt }));
  }

  async errors(): Promise<Figures> {
    const figures: Record<string, number> = {};
    for (const [name, fail] of [
      ['sync', (n: number) => `sync:${n}:EIO`],
      ['write', (n: number) => `write:${n}:EIO`],
      ['full', (n: number) => `write:${n}:ENOSPC`],
      ['short', (n: number) => `short:${n}`],
    ] as const) {
      const stride = name === 'sync' ? this.#stride : this.#stride * 9;
      const found = await this.#trials((n) => ({ fail: fail(n) }), stride);
      for (const [what, count] of Object.entries(found)) figures[`${name}_${what}`] = count;
    }
    return figures;
  }

  async #trials(faultsAt: (point: number) => Faults, stride = this.#stride): Promise<Figures> {
    const sums = { points: 0, ended: 0, refused: 0, wrong: 0 };
    for (let n = 1 + this.#random.below(stride); n < POINTS_MAX; n += stride) {
      const { folder, library } = this.#place();
      const options = { library, faults: faultsAt(n), rotates: false };
      const { isReached, died, refused, problems } = await trial(folder, options);
      for (const line of problems) this.#say(`${JSON.stringify(options.faults)}: ${line}`);
      sums.wrong += problems.length;
      if (!isReached) break;
      sums.points += 1;
      if (died !== undefined) sums.ended += 1;
      if (refused.length > 0) sums.refused += 1;
    }
    return sums;
  }

  async #replay(recording: Recording, cuts: readonly Cut[]) {
    const { images, acknowledged, findings } = await replay(recording, cuts, {
      folder: join(this.#folder, 'run'),
      random: this.#random,
      progress: (line) => this.#say(line),
    });
    const found = findings.map(({ problems }) => problems.join('\n'));
    const lost = found.filter((text) => /^lost: /m.test(text)).length;
    const damaged = found.filter((text) => /^damaged: /m.test(text)).length;
    return { images, acknowledged, lost, damaged };
  }

  #each(): { stride: number; random: Random } {
    return { stride: this.#stride, random: this.#random };
  }

  #place(): { folder: string; library: string } {
    const folder = join(this.#folder, 'run');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    return { folder, library: this.#library };
  }

  #say(line: string): void {
    this.problems += 1;
    process.stderr.write(`${line}\n`);
  }
}

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'cuts,kills,killed,errors,migration' },
    images: { type: 'string', default: '300' },
    stride: { type: 'string', default: '1' },
    /** A folder in memory is much quicker. */
    folder: { type: 'string', default: tmpdir() },
  },
});
freshBuild();
const folder = mkdtempSync(join(values.folder, 'svc-torture-'));
const torture = new Torture(folder, { seed: chooseSeed(), stride: Number(values.stride) });
try {
  for (const part of values.parts.split(',')) {
    const startedAt = performance.now();
    const figures = await run(part);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`${JSON.stringify({ part, ...figures, seconds })}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = torture.problems > 0 ? 1 : 0;

function run(part: string): Promise<Figures> {
  switch (part) {
    case 'cuts':
      return torture.cuts(Number(values.images));
    case 'kills':
      return torture.kills();
    case 'killed':
      return torture.killed();
    case 'errors':
      return torture.errors();
    case 'migration':
      return torture.migration();
    default:
      throw new Error(`No such part: ${part}`);
  }
}
