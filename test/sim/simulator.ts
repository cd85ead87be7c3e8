import * as fc from 'fast-check';
import type { Coverage } from './coverage.ts';
import { play } from './play.ts';
import type { Rules } from './rules.ts';
import { anyStep, type Step } from './steps.ts';
import type { Template } from './template.ts';

/** The most steps of a world. */
const STEPS_MAX = 300;
const SHRINK_MS = 120_000;

interface Simulation {
  readonly seed: number;
  /** Worlds are begun until this many steps were taken. */
  readonly steps: number;
  readonly rules: Rules;
  readonly coverage: Coverage;
  /** Whether a list of steps that fails is made as short as can be. */
  readonly shrink: boolean;
}

/** The difference it found, in words; null if product and model agree. The same seed finds the same difference. */
export async function simulate(template: Template, simulation: Simulation): Promise<string | null> {
  const { seed, steps: wanted, rules, coverage, shrink } = simulation;
  const until = coverage.steps + wanted;
  let failedAt = 0;
  const property = fc.asyncProperty(
    fc.array(anyStep, { maxLength: STEPS_MAX, size: 'max' }),
    async (steps) => {
      const isOver =
        failedAt === 0 ? coverage.steps >= until : performance.now() > failedAt + SHRINK_MS;
      if (isOver) return;
      try {
        await play(template, steps, { rules, coverage });
      } catch (error) {
        failedAt ||= performance.now();
        throw error;
      }
    },
  );
  // Unbiased: short worlds of small numbers reach little.
  const options = {
    seed,
    numRuns: 10 + Math.ceil(wanted / 50),
    unbiased: true,
    endOnFailure: !shrink,
  };
  const found = await fc.check(property, options);
  return found.failed ? reportOf(seed, found.counterexample?.[0] ?? [], found.errorInstance) : null;
}

function reportOf(seed: number, steps: readonly Step[], error: unknown): string {
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const listed = steps.map((step) => `  ${JSON.stringify(step)}`);
  return [`Seed ${seed}, ${steps.length} steps:`, ...listed, told].join('\n');
}
