import { afterAll, beforeAll, expect, it } from 'vitest';
import { ScriptedAgent } from './agent.ts';
import { permits } from './permits.ts';
import { EVENT_TASKS } from './tasks-events.ts';
import { PROJECT_TASKS } from './tasks-project.ts';
import type { Task } from './task.ts';
import { Town } from './world.ts';

const TASKS = [...EVENT_TASKS, ...PROJECT_TASKS];

let town: Town;
beforeAll(async () => {
  town = await Town.open();
});
afterAll(() => town.close());

/** What an agent reads in answers to one call on average, in characters: about 700 tokens. */
const READ_PER_CALL_MAX = 3000;

it.each(TASKS)('an agent finds all it needs in what it reads: $name', async (task) => {
  const place = await town.place(`task-${TASKS.indexOf(task)}`);
  const { faults, calls, read } = await ScriptedAgent.do(task, place);
  expect(faults).toEqual([]);
  expect(calls).toBe(task.steps.length);
  expect(read / calls).toBeLessThan(READ_PER_CALL_MAX);
});

it('finds wording that is missing', async () => {
  const task: Task = {
    name: 'wrong',
    goal: 'Claim it.',
    steps: [
      {
        tool: 'inbox_claim',
        because: { in: 'tool', says: 'Take a ticket' },
        args: { event_id: { own: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' } },
      },
    ],
  };
  const { faults } = await ScriptedAgent.do(task, await town.place('task-wrong'));
  expect(faults).toEqual([
    '0: inbox_claim: "Take a ticket" isn\'t in the tool',
    expect.stringContaining('event_id: the schema leaves no room for'),
    expect.stringContaining('refused: NOT_FOUND'),
  ]);
});

it('knows what a schema leaves to an agent', () => {
  const span = { type: 'string', pattern: '^\\d+[mhd]$', description: 'From 1m to 7d.' };
  expect(permits(span, '2d', 'own')).toBeNull();
  expect(permits({ ...span, description: 'A time.' }, '2d', 'own')).toMatch(/no room/);
  expect(permits({ enum: ['a'] }, 'a', 'listed')).toBeNull();
  expect(permits({ enum: ['a'] }, 'a', 'own')).toMatch(/no room/);
});
