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
let names: readonly string[];

beforeAll(async () => {
  stage = await ExecutorStage.open();
  world = new World(stage.gateway);
  names = [...new Set(fc.sample(diskName, 10))];
  for (const name of names) {
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

describe('a replica, whatever the prefixes and the names', () => {
  it('answers a limited key nothing outside, and passes nothing of it on', async () => {
    const run = async (
      prefixes: readonly string[],
      calls: readonly DiskCall[],
      wanted: string,
      limit: number,
    ) => {
      stage.reset();
      const { id, key } = await newKey(prefixes);
      const caller = await stage.executor.authenticate(stage.credentials(key));
      for (const call of calls) {
        const asked = stage.asked.length;
        const isAllowed = call.names.every((name) => isCovered(prefixes, call.kind, name));
        const answer = await answered(call, caller);
        expect([call.operation, call.names, answer === 'refused']).toEqual([
          call.operation,
          call.names,
          !isAllowed,
        ]);
        if (!isAllowed) expect(stage.asked).toHaveLength(asked);
      }
      await expectSameLists({ prefixes, wanted, limit }, caller);
      await world.get('key_revoke', { key_id: id });
    };
    const calls = fc.array(diskCall, { minLength: 5, maxLength: 15 });
    const limit = fc.integer({ min: 1, max: 5 });
    await fc.assert(fc.asyncProperty(somePrefixes, calls, someText, limit, run), { numRuns: 15 });
  });

  async function expectSameLists(
    { prefixes, wanted, limit }: { prefixes: readonly string[]; wanted: string; limit: number },
    caller: Caller,
  ): Promise<void> {
    for (const [operation, field] of [
      ['kv_list', 'key'],
      ['file_list', 'path'],
    ] as const) {
      const all = await world.get(operation, { limit: 100 });
      const inside = (all['items'] as Json[])
        .map((item) => String(item[field]))
        .filter((name) => isCovered(prefixes, field, name) && name.startsWith(wanted));
      const input = { prefix: wanted, limit };
      const page = await answered({ operation, input, kind: field, names: [] }, caller);
      const seen = page === 'refused' ? [] : ((page as Json)['items'] as Json[]);
      expect(seen.map((item) => item[field])).toEqual(inside.slice(0, limit));
    }
  }
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
