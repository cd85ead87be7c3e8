import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { RULES } from './rules.ts';
import { simulate } from './simulator.ts';
import { makeTemplate } from './template.ts';

const STEPS_PER_SEED = 5000;
const SEED_MAX = 2 ** 31;

/**
 * Plays seed after seed until time is up or product and models disagree. Prints each seed before playing it.
 *
 *     npx tsx test/sim/torture-program.ts --minutes 60 --seed 1
 */
async function torture(minutes: number, first: number): Promise<boolean> {
  const template = await makeTemplate();
  const coverage = new Coverage();
  const until = performance.now() + minutes * 60_000;
  try {
    for (let seed = first; performance.now() < until; seed = (seed + 1) % SEED_MAX) {
      say(`seed ${seed}, after ${coverage.steps} steps`);
      const steps = STEPS_PER_SEED;
      const found = await simulate(template, { seed, steps, rules: RULES, coverage, shrink: true });
      if (found !== null) {
        say(found);
        return false;
      }
    }
    return true;
  } finally {
    await template.remove();
    say(`${coverage.steps} steps:\n${coverage.toString()}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomInt(SEED_MAX)) },
  },
});
const isWell = await torture(Number(values.minutes), Number(values.seed));
process.exitCode = isWell ? 0 : 1;
