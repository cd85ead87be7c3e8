import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { STEP_KINDS } from './play.ts';
import { REACHED } from './reached.ts';
import { RULES } from './rules.ts';
import { simulate } from './simulator.ts';
import { makeTemplate, type Template } from './template.ts';

const STEPS_EACH = 5000;
const FIXED_SEED = 3;
const AGAIN = process.env['SVC_SIM_SEED'];

let template: Template;
beforeAll(async () => {
  template = await makeTemplate();
});
afterAll(() => template.remove());

describe('the inbox, its leases and what people are asked', () => {
  it('do what the models do, step by step', async () => {
    const seeds = AGAIN === undefined ? [FIXED_SEED, randomInt(2 ** 31)] : [Number(AGAIN)];
    const coverage = new Coverage();
    for (const seed of seeds) {
      process.stdout.write(`SVC_SIM_SEED=${seed}\n`);
      const simulation = { seed, steps: STEPS_EACH, rules: RULES, coverage, shrink: true };
      expect(await simulate(template, simulation)).toBeNull();
    }
    process.stdout.write(`${coverage.steps} steps:\n${coverage.toString()}\n`);
    expect(coverage.steps).toBeGreaterThanOrEqual(seeds.length * STEPS_EACH);
    // The fixed seed alone reaches all of them.
    const all = [...STEP_KINDS.map((kind) => `step: ${kind}`), ...REACHED];
    const wanted = AGAIN === undefined ? all : [];
    expect(wanted.filter((name) => coverage.count(name) === 0)).toEqual([]);
  });
});
