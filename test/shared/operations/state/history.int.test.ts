import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STATE_VERSION_MS, STATE_VERSIONS_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestDisk } from '../disk.ts';
import { recounted } from '../recounted.ts';

interface Version {
  readonly version: number;
  readonly saved_at: string;
  readonly size_bytes: number;
  readonly note: string | null;
  readonly key_id: string | null;
  readonly agent: string | null;
}

let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
});
afterEach(() => gateway.stop());

const save = async (task: string, body: object, headers: Record<string, string> = {}) =>
  (await gateway.call<{ version: number }>('PUT', `/v1/state/${task}`, { body, headers })).body;
const load = async (task: string, version: number) =>
  (await gateway.call<unknown>('GET', `/v1/state/${task}?version=${version}`)).body;
const history = async (task: string) =>
  (await gateway.call<{ items: Version[] }>('GET', `/v1/state-history/${task}`)).body.items;
const numbers = async (task: string) => (await history(task)).map(({ version }) => version);
const sums = () => recounted(join(gateway.folder, 'projects', gateway.projectId, 'project.db'));

/** What is remembered of the disk is what its tables add up to. */
function expectCounted(): void {
  const { counted, sums: remembered } = sums();
  expect(remembered).toEqual(counted);
}

describe('earlier versions of a state', () => {
  it('are listed with who saved them, the newest first, and loaded by their number', async () => {
    await save('t', { state: { step: 1 }, note: 'one' }, { 'x-service-agent': 'planner' });
    clock.advance(1000);
    await save('t', { state: { step: 22 } });
    const [newest, oldest] = await history('t');
    expect(newest).toMatchObject({ version: 2, size_bytes: 11, note: null, agent: null });
    expect(oldest).toMatchObject({ version: 1, size_bytes: 10, note: 'one', agent: 'planner' });
    expect([newest?.key_id, oldest?.key_id]).toEqual(Array(2).fill(await disk.adminKeyId()));
    expect(await load('t', 1)).toEqual({
      task_id: 't',
      state: { step: 1 },
      note: 'one',
      saved_at: oldest?.saved_at,
      version: 1,
    });
    expect(await load('t', 2)).toMatchObject({ state: { step: 22 }, version: 2 });
    expectCounted();
  });

  it('keep numbers exactly as they were written', async () => {
    const text = '{"state":12345678901234567890.10}';
    const headers = { 'content-type': 'application/json' };
    const url = `${gateway.url}/v1/state/t`;
    const authorization = `Bearer ${gateway.apiKey}`;
    await fetch(url, { method: 'PUT', body: text, headers: { ...headers, authorization } });
    await save('t', { state: 1 });
    const answer = await fetch(`${url}?version=1`, { headers: { authorization } });
    expect(await answer.text()).toContain('12345678901234567890.10');
  });

  it('are nothing for a task that was never saved, and of no other task', async () => {
    await save('mine', { state: 1 });
    await save('mine', { state: 2 });
    await save('other', { state: 3 });
    expect(await history('none')).toEqual([]);
    expect(await load('other', 1)).toBeNull();
    expect(await load('mine', 9)).toBeNull();
    expect(await numbers('mine/x')).toEqual([]);
  });

  it('are not made by a save that was refused', async () => {
    await save('t', { state: 1 });
    await save('t', { state: 2, if_version: 7 });
    expect(await numbers('t')).toEqual([1]);
    expectCounted();
  });

  it('are the last twenty, and the state itself', async () => {
    for (let n = 1; n <= 23; n += 1) await save('t', { state: n });
    expect(await numbers('t')).toEqual(Array.from({ length: 21 }, (_, n) => 23 - n));
    expect(await load('t', 2)).toBeNull();
    expect(await load('t', 3)).toMatchObject({ state: 3 });
    expectCounted();
  });

  it('go thirty days after they were replaced, and the state never does', async () => {
    await save('t', { state: 1 });
    clock.advance(STATE_VERSION_MS);
    await save('t', { state: 2 });
    clock.advance(STATE_VERSION_MS - 1);
    await maintain(disk.project, clock);
    expect(await numbers('t')).toEqual([2, 1]);
    clock.advance(1);
    expect(await numbers('t')).toEqual([2]);
    expect(await load('t', 1)).toBeNull();
    expect(sums().counted).toMatchObject({ history_bytes: 1 });
    await maintain(disk.project, clock);
    expect(sums().counted).toMatchObject({ history_bytes: 0 });
    expectCounted();
    clock.advance(10 * STATE_VERSION_MS);
    await maintain(disk.project, clock);
    expect(await numbers('t')).toEqual([2]);
  });

  it('are deleted with the state', async () => {
    await save('t', { state: 'secret' });
    await save('t', { state: 2 });
    await gateway.call('DELETE', '/v1/kv/state/t');
    expect(await history('t')).toEqual([]);
    expect(await load('t', 1)).toBeNull();
    expectCounted();
    await save('t', { state: 3 });
    expect(await numbers('t')).toEqual([3]);
  });

  it('do not count against the quota, and drop the oldest above 64 MB', async () => {
    await save('old', { state: 'x' });
    await save('old', { state: 'y' });
    await save('t', { state: 'z' });
    // As if other tasks had filled the room up to its last byte.
    const room = STATE_VERSIONS_MAX_BYTES - 3;
    await disk.write((store) => store.disk.add('history_bytes', room));
    expect(await numbers('old')).toEqual([2, 1]);
    await save('t', { state: 'w' });
    expect(await numbers('old')).toEqual([2]);
    expect(await numbers('t')).toEqual([4, 3]);
    await disk.write((store) => store.disk.add('history_bytes', -room));
    expectCounted();
    const { body } = await gateway.call<{ disk: object }>('GET', '/v1/usage');
    expect(body.disk).toMatchObject({ key_bytes: 6 });
  });
});
