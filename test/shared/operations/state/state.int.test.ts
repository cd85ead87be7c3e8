import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Saved {
  readonly task_id: string;
  readonly key: string;
  readonly saved_at: string;
  readonly version: number;
}

interface Loaded {
  readonly task_id: string;
  readonly state: unknown;
  readonly note: string | null;
  readonly saved_at: string;
  readonly version: number;
}

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const iso = (ms: number): string => new Date(ms).toISOString();

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock(START);
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

const save = (task: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.call<Saved>('PUT', `/v1/state/${task}`, { body, headers });

const load = async (task: string) =>
  (await gateway.call<Loaded | null>('GET', `/v1/state/${task}`)).body;

const refused = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details !== undefined && { details }) } },
});

const names = (path: string) => ({ fields: [{ path }] });

describe('the state of a task', () => {
  it('is saved, loaded in another run, and replaced', async () => {
    const first = await save('deploy-42', { state: { step: 3 }, note: 'waits for approval' });
    expect(first).toMatchObject({ status: 200 });
    expect(first.headers.get('etag')).toBe('"1"');
    expect(first.body).toEqual({
      task_id: 'deploy-42',
      key: 'state/deploy-42',
      saved_at: iso(START),
      version: 1,
    });
    clock.advance(5);
    const loaded = await gateway.call<Loaded>('GET', '/v1/state/deploy-42');
    expect(loaded.headers.get('etag')).toBe('"1"');
    expect(loaded.body).toEqual({
      task_id: 'deploy-42',
      state: { step: 3 },
      note: 'waits for approval',
      saved_at: iso(START),
      version: 1,
    });
    expect((await save('deploy-42', { state: null })).body).toMatchObject({
      saved_at: iso(START + 5),
      version: 2,
    });
    expect(await load('deploy-42')).toMatchObject({ state: null, note: null, version: 2 });
  });

  it('that was never saved loads as null', async () => {
    expect(await gateway.call('GET', '/v1/state/none')).toMatchObject({ status: 200, body: null });
  });

  it('never expires', async () => {
    await save('t', { state: 1 });
    clock.advance(10 * 365 * 86_400_000);
    expect(await load('t')).toMatchObject({ state: 1 });
  });

  it('is a key beside others: listed, counted and deleted as one', async () => {
    await save('a/b', { state: 'xyz', note: 'a note takes no room' });
    const list = await gateway.call<{ items: unknown[] }>('GET', '/v1/kv?prefix=state/');
    expect(list.body.items).toMatchObject([{ key: 'state/a/b', size_bytes: 5, expires_at: null }]);
    const usage = await gateway.call('GET', '/v1/usage');
    expect(usage.body).toMatchObject({ keys: { used: 1 }, disk: { key_bytes: 5 } });
    expect((await gateway.call('DELETE', '/v1/kv/state/a/b')).body).toEqual({ deleted: true });
    expect(await load('a/b')).toBeNull();
  });

  it('is written by those who know its version', async () => {
    const none = { 'if-none-match': '*' };
    expect(await save('t', { state: 1 }, { 'if-match': '*' })).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', { version: 0 }),
    );
    expect((await save('t', { state: 1 }, none)).status).toBe(200);
    expect(await save('t', { state: 2 }, none)).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', { version: 1, size_bytes: 1, updated_at: iso(START) }),
    );
    const matched = await save('t', { state: 2 }, { 'if-match': '"1"' });
    expect(matched.body).toMatchObject({ version: 2 });
    const field = await save('t', { state: 3, if_version: 2 });
    expect(field.body).toMatchObject({ version: 3 });
    const both = await save('t', { state: 4, if_version: 3 }, { 'if-match': '"2"' });
    expect(both).toMatchObject(refused(400, 'VALIDATION_FAILED', names('If-Match')));
    expect(await load('t')).toMatchObject({ state: 3, version: 3 });
  });

  it('is saved once under an Idempotency-Key, with one entry in the ledger', async () => {
    const once = { 'idempotency-key': 'once' };
    const first = await save('t', { state: 1, note: 'secret words' }, once);
    const again = await save('t', { note: 'secret words', state: 1 }, once);
    expect(again.body).toEqual(first.body);
    await load('t');
    const path = '/v1/ledger?subject=state/t';
    const { body } = await gateway.call<{ items: Record<string, unknown>[] }>('GET', path);
    expect(body.items).toMatchObject([{ op: 'state_save', outcome: 'ok' }]);
    expect(JSON.stringify(body)).not.toContain('words');
  });
});

describe('a task', () => {
  it.each(['a', 'a/b', '/', 'a//b', 'ü', '...', 'x'.repeat(506), 'é'.repeat(253)])(
    'may be called %j',
    async (task) => {
      const path = encodeURIComponent(task);
      const { status, body } = await save(path, { state: 1 });
      expect([status, body.task_id, body.key]).toEqual([200, task, `state/${task}`]);
      expect(await load(path)).toMatchObject({ task_id: task, state: 1 });
    },
  );

  it.each([
    '\0',
    '\n',
    '\t',
    '\u0085',
    'x'.repeat(507),
    'é'.repeat(254),
    'x'.repeat(513),
    'x'.repeat(9000),
  ])('may not be called %j', async (task) => {
    const bad = refused(400, 'VALIDATION_FAILED', names('task_id'));
    const path = encodeURIComponent(task);
    expect(await save(path, { state: 1 })).toMatchObject(bad);
    expect(await gateway.call('GET', `/v1/state/${path}`)).toMatchObject(bad);
  });
});

describe('a state', () => {
  it('has a note of up to 500 characters', async () => {
    const note = 'é'.repeat(500);
    expect((await save('t', { state: 1, note })).status).toBe(200);
    expect(await load('t')).toMatchObject({ note });
    for (const wrong of ['x'.repeat(501), 'a\0b', 'a\ud800b', 7]) {
      const answer = await save('t', { state: 1, note: wrong });
      expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED', names('note')));
    }
    const lines = 'two\nlines\t\u007f\u0085';
    expect((await save('t', { state: 1, note: lines })).status).toBe(200);
    expect(await load('t')).toMatchObject({ note: lines });
    expect((await save('t', { state: 1, note: '' })).status).toBe(200);
    expect(await load('t')).toMatchObject({ note: '' });
  });

  it('is named when it is left out of a body, and is null where it is', async () => {
    expect(await save('t', {})).toMatchObject(refused(400, 'VALIDATION_FAILED', names('state')));
    expect((await save('t', { state: null })).status).toBe(200);
  });
});
