import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { RULES, type Rules } from './rules.ts';
import { simulate } from './simulator.ts';
import { makeTemplate, type Template } from './template.ts';

let template: Template;
beforeAll(async () => {
  template = await makeTemplate();
});
afterAll(() => template.remove());

const SEED = 3;
const DAY_MS = 86_400_000;

/** Models that believe in a wrong rule: to tell the product from them is to tell a faulty product from the right model. */
const WRONG: readonly (readonly [string, Partial<Rules>])[] = [
  ['an event has six attempts', { attemptsMax: 6 }],
  ['a lease that ran out is no attempt', { lapseCounts: false }],
  ['the second pause is as long as the first', { retryMs: [30_000, 30_000, 120_000, 240_000] }],
  ['what is over lives on for a millisecond', { lateMs: 1 }],
  ['an older lease of the same key is good', { fenced: false }],
  ['whoever comes may end what others claimed', { holderOnly: false }],
  ['an event that is put back keeps its attempts', { requeueForgetsAttempts: false }],
  ['a body is remembered for less than a day', { bodyWindowMs: DAY_MS - 1 }],
  ['an id is remembered for more than 30 days', { idWindowMs: 30 * DAY_MS + 1 }],
  ['payloads go early', { retentionMs: 30 * DAY_MS - 1 }],
  ['an answer is kept for more than a day', { answerWindowMs: DAY_MS + 1 }],
  ['29 requests of a key are too many', { pendingPerKeyMax: 29 }],
  ['a second decision is taken', { firstDecisionStands: false }],
  ['a policy applies although another came first', { supersedes: false }],
  [
    'a route gives up after fewer hours',
    { pushPausesMs: [1, 5, 30, 120, 360].map((n) => n * 60_000) },
  ],
  ['amount_lte leaves its amount out', { amountIncluded: false }],
];

describe('the simulator finds within its budget that', () => {
  it.each(WRONG)('%s', async (_name, wrong) => {
    const coverage = new Coverage();
    const rules = { ...RULES, ...wrong };
    const simulation = { seed: SEED, steps: 5000, rules, coverage, shrink: false };
    const found = await simulate(template, simulation);
    expect(found).toContain(`Seed ${SEED}, `);
    expect(found).toContain('AssertionError');
  });
});
