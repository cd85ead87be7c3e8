import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../shared/kernel/context.ts';
import { World } from '../../surface/scenario.ts';
import {
  diskCall,
  diskName,
  isCovered,
  somePrefixes,
  someText,
  type DiskCall,
} from '../../gateway/executor/disk-names.ts';
import { ExecutorStage } from './executor-stage.ts';

type Json = Record<string, unknown>;

let stage: ExecutorStage;
let world: World;

beforeAll(async () => {
  stage = await ExecutorStage.open();
  world = new World(stage.gateway);
  for (const name of new Set(fc.sample(diskName, 10))) {
    await world.run('kv_set', { key: name, value: 1 });
    await world.get('state_save', { task_id: name, state: 1 });
    await world.get('file_put', { path: name, content_base64: '' });
  }
});
afterAll(() => stage.gateway.stop());
beforeEach(() => stage.reset());

async function newKey(disk_prefixes: readonly string[]): Promise<{ id: string; key: string }> {
  const made = await world.get('key_create', { name: 'limited', scopes: ['disk'], disk_prefixes });
  return { id: String(made['id']), key: String(made['api_key']) };
}

const refusal = (prefixes: readonly string[]) =>
  expect.objectContaining({ code: 'SCOPE_MISSING', details: { scope: 'disk', prefixes } });

/** What the executor answers; `refused` for a name outside. */
async function answered({ operation, input }: DiskCall, caller: Caller): Promise<unknown> {
  try {
    return (await stage.run(operation, input, caller)).value;
  } catch (error) {
    if ((error as { code?: string }).code === 'SCOPE_MISSING') return 'refused';
    throw error;
  }
}

interface Run {
  readonly prefixes: readonly string[];
  readonly calls: readonly DiskCall[];
  readonly wanted: string;
  readonly limit: number;
}

async function holds(run: Run): Promise<void> {
  stage.reset();
  const { id, key } = await newKey(run.prefixes);
  const caller = await stage.executor.authenticate(stage.credentials(key));
  for (const call of run.calls) {
    const { operation, kind, names } = call;
    const before = stage.asked.length;
    const isAllowed = names.every((name) => isCovered(run.prefixes, kind, name));
    const isRefused = (await answered(call, caller)) === 'refused';
    const isPassedOn = stage.asked.length > before;
    expect([operation, names, isRefused]).toEqual([operation, names, !isAllowed]);
    expect([operation, names, isRefused && isPassedOn]).toEqual([operation, names, false]);
  }
  await expectSameList(run, caller, ['kv_list', 'key']);
  await expectSameList(run, caller, ['file_list', 'path']);
  await world.get('key_revoke', { key_id: id });
}

async function expectSameList(
  { prefixes, wanted, limit }: Run,
  caller: Caller,
  [operation, field]: readonly [string, 'key' | 'path'],
): Promise<void> {
  const all = await world.get(operation, { limit: 100 });
  const inside = (all['items'] as Json[])
    .map((item) => String(item[field]))
    .filter((name) => isCovered(prefixes, field, name) && name.startsWith(wanted));
  const input = { prefix: wanted, limit };
  const page = await answered({ operation, input, kind: field, names: [] }, caller);
  const seen = page === 'refused' ? [] : ((page as Json)['items'] as Json[]);
  expect(seen.map((item) => item[field])).toEqual(inside.slice(0, limit));
}

describe('a replica, whatever the prefixes and the names', () => {
  it('answers a limited key nothing outside, and passes nothing of it on', async () => {
    const runs = fc.record({
      prefixes: somePrefixes,
      calls: fc.array(diskCall, { minLength: 5, maxLength: 15 }),
      wanted: someText,
      limit: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(fc.asyncProperty(runs, holds), { numRuns: 15 });
  });
});

describe('a limited key that the replica lacks', () => {
  it('is held to what the gateway says of it', async () => {
    stage.acceptKeys('passed on', ['team-a/']);
    const replica = stage.executorWith(() => null);
    const caller = await replica.authenticate(stage.credentials());
    expect(caller.diskPrefixes).toEqual(['team-a/']);
    const own = await stage.run('kv_get', { key: 'team-a/x' }, caller);
    expect(own.value).toBe('passed on');
    await expect(stage.run('kv_get', { key: 'team-b/x' }, caller)).rejects.toEqual(
      refusal(['team-a/']),
    );
  });

  it('has no limit at a gateway of an earlier release, which knows none', async () => {
    stage.acceptKeys('passed on');
    const caller = await stage.executorWith(() => null).authenticate(stage.credentials());
    expect(caller.diskPrefixes).toBeNull();
  });
});
