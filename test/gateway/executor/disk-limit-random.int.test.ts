import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { World } from '../../surface/scenario.ts';
import {
  diskCall,
  diskName,
  isCovered,
  somePrefixes,
  someText,
  type DiskCall,
} from './disk-names.ts';

type Json = Record<string, unknown>;

let gateway: TestGateway;
let world: World;

beforeAll(async () => {
  gateway = await TestGateway.start();
  world = new World(gateway);
  for (const name of new Set(fc.sample(diskName, 12))) {
    await world.run('kv_set', { key: name, value: 1 });
    await world.get('state_save', { task_id: name, state: 1 });
    await world.get('file_put', { path: name, content_base64: '' });
  }
});
afterAll(() => gateway.stop());

interface Found {
  readonly name: string;
  readonly version: unknown;
}

/** All pages of a list. */
async function listed(kind: 'key' | 'path', input: Json, key?: string): Promise<Found[]> {
  const name = kind === 'key' ? 'kv_list' : 'file_list';
  const found: Found[] = [];
  let cursor: unknown;
  do {
    const next = cursor === undefined ? {} : { cursor };
    const page = await world.run(name, { ...input, ...next }, key === undefined ? {} : { key });
    if (page.status !== 200) return found;
    const items = page.body['items'] as Json[];
    found.push(...items.map((item) => ({ name: String(item[kind]), version: item['version'] })));
    cursor = page.body['next_cursor'] ?? undefined;
  } while (cursor !== undefined);
  return found;
}

const everything = async () => ({
  key: await listed('key', { limit: 100 }),
  path: await listed('path', { limit: 100 }),
});

interface Run {
  readonly prefixes: readonly string[];
  readonly calls: readonly DiskCall[];
  readonly wanted: string;
  readonly limit: number;
}

async function expectHeld({ prefixes, calls }: Run, key: string): Promise<void> {
  for (const { operation, kind, names, input } of calls) {
    const { status, body } = await world.run(operation, input, { key });
    const isAllowed = names.every((name) => isCovered(prefixes, kind, name));
    const refused = status === 403 ? (body['error'] as Json)['details'] : null;
    const expected = isAllowed ? null : { scope: 'disk', prefixes };
    expect([operation, names, refused]).toEqual([operation, names, expected]);
  }
}

async function holds(run: Run): Promise<void> {
  const { prefixes: disk_prefixes, wanted, limit } = run;
  const made = await world.get('key_create', { name: 'limited', scopes: ['disk'], disk_prefixes });
  const key = String(made['api_key']);
  const before = await everything();
  await expectHeld(run, key);
  const after = await everything();
  for (const kind of ['key', 'path'] as const) {
    const isOutside = ({ name }: Found) => !isCovered(disk_prefixes, kind, name);
    expect(after[kind].filter(isOutside)).toEqual(before[kind].filter(isOutside));
    const seen = await listed(kind, { prefix: wanted, limit }, key);
    const inside = after[kind].filter((one) => !isOutside(one));
    expect(seen).toEqual(inside.filter(({ name }) => name.startsWith(wanted)));
  }
  await world.get('key_revoke', { key_id: made['id'] });
}

describe('whatever the prefixes and the names', () => {
  it('a limited key sees and changes nothing outside', async () => {
    const runs = fc.record({
      prefixes: somePrefixes,
      calls: fc.array(diskCall, { minLength: 4, maxLength: 8 }),
      wanted: someText,
      limit: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(fc.asyncProperty(runs, holds), { numRuns: 12 });
  });
});
