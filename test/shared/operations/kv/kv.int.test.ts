import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { caller } from '../../../helpers/calls.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Stored {
  readonly key: string;
  readonly value: unknown;
  readonly expires_at: string | null;
  readonly updated_at: string;
  readonly version: number;
}

interface Set {
  readonly key: string;
  readonly size_bytes: number;
  readonly expires_at: string | null;
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

type Headers = Record<string, string>;

const get = async (key: string) => (await gateway.call<Stored | null>('GET', `/v1/kv/${key}`)).body;

const set = (key: string, value: unknown, headers: Headers = {}) =>
  gateway.call<Set>('PUT', `/v1/kv/${key}`, { body: value, headers });

const remove = (key: string, headers: Headers = {}) =>
  gateway.call('DELETE', `/v1/kv/${key}`, { headers });

const setFor = (ttl: string, value: unknown) =>
  gateway.call<Set>('PUT', `/v1/kv/a?ttl_seconds=${ttl}`, { body: value });

const list = () => gateway.call<{ items: { key: string }[] }>('GET', '/v1/kv');

/** A body as it is written. */
async function setText(key: string, text: string) {
  const response = await fetch(`${gateway.url}/v1/kv/${key}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const refused = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details !== undefined && { details }) } },
});

const names = (path: string) => ({ fields: [{ path }] });

describe('a value under a key', () => {
  it('is stored, read and replaced, with its size as JSON', async () => {
    const first = await set('a', { n: [1, 'é'] });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ key: 'a', size_bytes: 14, expires_at: null, version: 1 });
    expect(first.headers.get('etag')).toBe('"1"');
    clock.advance(1);
    expect((await set('a', 'x')).body).toMatchObject({ size_bytes: 3, version: 2 });
    const read = await gateway.call<Stored>('GET', '/v1/kv/a');
    expect(read.status).toBe(200);
    expect(read.headers.get('etag')).toBe('"2"');
    expect(read.body).toEqual({
      key: 'a',
      value: 'x',
      expires_at: null,
      updated_at: iso(START + 1),
      version: 2,
    });
  });

  it('is as long as its JSON is without white space', async () => {
    const { body } = await setText('a', ' { "a" : [ 1 , 2.50 ] , "b" : "\\u00e9" }\n');
    expect(body).toMatchObject({ size_bytes: Buffer.byteLength('{"a":[1,2.50],"b":"é"}') });
  });

  it('that is left out is null', async () => {
    const { call } = await caller(gateway, gateway.apiKey);
    const { value } = await call('kv_set', { key: 'a' });
    expect(value).toMatchObject({ size_bytes: 4 });
    expect(await get('a')).toMatchObject({ key: 'a', value: null });
  });

  it('that was never there reads as null, with HTTP 200', async () => {
    const answer = await gateway.call('GET', '/v1/kv/none');
    expect(answer).toMatchObject({ status: 200, body: null });
    expect(answer.headers.get('etag')).toBeNull();
  });

  it('is deleted, once', async () => {
    await set('a', 1);
    expect(await remove('a')).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await remove('a')).body).toEqual({ deleted: false });
    expect(await get('a')).toBeNull();
  });
});

describe('the keys of task states', () => {
  it('are read and deleted as others are, and set by state_save alone', async () => {
    await gateway.call('PUT', '/v1/state/t', { body: { state: { step: 1 } } });
    expect(await get('state/t')).toMatchObject({ key: 'state/t', value: { step: 1 } });
    for (const key of ['state/t', 'state/new', 'state/', 'state%2Ft']) {
      expect(await set(key, 2)).toMatchObject(refused(400, 'PATH_RESERVED'));
    }
    expect(await get('state/t')).toMatchObject({ value: { step: 1 } });
    expect((await set('state', 3)).status).toBe(200);
    const removed = await gateway.call('DELETE', '/v1/kv/state/t');
    expect(removed.body).toEqual({ deleted: true });
    expect((await gateway.call('GET', '/v1/state/t')).body).toBeNull();
  });
});

describe('the time of a key', () => {
  it('is told, and is over to the millisecond', async () => {
    const { body } = await setFor('60', 1);
    expect(body.expires_at).toBe(iso(START + 60_000));
    clock.advance(59_999);
    expect(await get('a')).toMatchObject({ value: 1, expires_at: iso(START + 60_000) });
    expect((await list()).body.items).toHaveLength(1);
    clock.advance(1);
    expect(await get('a')).toBeNull();
    expect((await list()).body.items).toEqual([]);
    expect((await remove('a')).body).toEqual({ deleted: false });
  });

  it('counts for if_version: what is over is not there', async () => {
    await setFor('1', 1);
    clock.advance(999);
    const early = await gateway.call('PUT', '/v1/kv/a?if_version=0', { body: 2 });
    expect(early).toMatchObject(refused(412, 'PRECONDITION_FAILED', { version: 1 }));
    clock.advance(1);
    const stale = await set('a', 2, { 'if-match': '"1"' });
    expect(stale).toMatchObject(refused(412, 'PRECONDITION_FAILED'));
    expect((stale.body as unknown as { error: unknown }).error).toMatchObject({
      details: { version: 0 },
    });
    const late = await gateway.call<Set>('PUT', '/v1/kv/a?if_version=0', { body: 2 });
    expect(late.body).toMatchObject({ expires_at: null, version: 2 });
    clock.advance(86_400_000);
    expect(await get('a')).toMatchObject({ value: 2 });
  });

  it('begins anew with each write, and ends with one that gives none', async () => {
    await setFor('10', 1);
    clock.advance(9_000);
    await setFor('10', 2);
    clock.advance(9_000);
    expect(await get('a')).toMatchObject({ value: 2 });
    await set('a', 3);
    clock.advance(1_000_000);
    expect(await get('a')).toMatchObject({ value: 3, expires_at: null });
  });
});

describe('the version of a key', () => {
  it('grows with every write, and is not given again after a delete', async () => {
    const versions: number[] = [];
    for (const key of ['a', 'b', 'a']) versions.push((await set(key, 1)).body.version);
    await remove('a');
    versions.push((await set('a', 1)).body.version);
    await gateway.call('PUT', '/v1/state/t', { body: { state: 1 } });
    await gateway.call('PUT', '/v1/kv/b?ttl_seconds=1', { body: 1 });
    clock.advance(1000);
    versions.push((await set('b', 1)).body.version);
    expect(versions).toEqual([1, 2, 3, 4, 7]);
    // Somebody who read version 3 before all this must not win.
    const old = await set('a', 'old', { 'if-match': '"3"' });
    expect(old).toMatchObject(refused(412, 'PRECONDITION_FAILED', { version: 4 }));
  });

  it('may be asked for, in the query and in headers', async () => {
    const none = { 'if-none-match': '*' };
    expect((await set('a', 1, none)).body).toMatchObject({ version: 1 });
    expect(await set('a', 2, none)).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', {
        version: 1,
        size_bytes: 1,
        updated_at: iso(START),
      }),
    );
    expect((await set('a', 3, { 'if-match': '"1"' })).body).toMatchObject({ version: 2 });
    const query = await gateway.call('PUT', '/v1/kv/a?if_version=2', { body: 4 });
    expect(query.body).toMatchObject({ version: 3 });
    expect(await set('none', 1, { 'if-match': '"1"' })).toEqual(
      expect.objectContaining({
        status: 412,
        body: { error: expect.objectContaining({ details: { version: 0 } }) },
      }),
    );
    expect(await get('a')).toMatchObject({ value: 4, version: 3 });
    expect(await get('none')).toBeNull();
  });

  it('keeps a newer value from a delete of an older one', async () => {
    await set('lock', 'mine');
    clock.advance(1);
    await set('lock', 'theirs');
    const newer = refused(412, 'PRECONDITION_FAILED', {
      version: 2,
      size_bytes: 8,
      updated_at: iso(START + 1),
    });
    expect(await remove('lock', { 'if-match': '"1"' })).toMatchObject(newer);
    expect(await remove('lock?if_version=1')).toMatchObject(newer);
    expect(await get('lock')).toMatchObject({ value: 'theirs', version: 2 });
    expect(await remove('lock?if_version=0')).toMatchObject(
      refused(400, 'VALIDATION_FAILED', names('if_version')),
    );
    expect((await remove('lock', { 'if-match': '"2"' })).body).toEqual({ deleted: true });
    expect(await remove('lock', { 'if-match': '"2"' })).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', { version: 0 }),
    );
  });

  it('is nothing once the key has expired, for a delete too', async () => {
    await setFor('1', 1);
    clock.advance(1000);
    expect(await remove('a', { 'if-match': '"1"' })).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', { version: 0 }),
    );
  });

  it('may be any, but one: If-Match: * and if_exists change only what is there', async () => {
    const any = { 'if-match': '*' };
    const gone = refused(412, 'PRECONDITION_FAILED', { version: 0 });
    expect(await set('a', 1, any)).toMatchObject(gone);
    expect(await remove('a', any)).toMatchObject(gone);
    expect(await remove('a?if_exists=true')).toMatchObject(gone);
    expect((await remove('a?if_exists=false')).body).toEqual({ deleted: false });
    await set('a', 1);
    expect((await set('a', 2, any)).body).toMatchObject({ version: 2 });
    expect((await set('a', 3, { ...any, 'if-none-match': '*' })).status).toBe(400);
    expect(await set('a?if_version=1', 3, any)).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', { version: 2 }),
    );
    expect((await remove('a', any)).body).toEqual({ deleted: true });
    await setFor('1', 1);
    clock.advance(1000);
    expect(await set('a', 4, any)).toMatchObject(gone);
  });

  it('lets exactly one of 50 win, in each round', async () => {
    let version = 0;
    for (let round = 1; round <= 5; round += 1) {
      const path = `/v1/kv/counter?if_version=${version}`;
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          gateway.call<Set>('PUT', path, { body: { round, index } }),
        ),
      );
      const won = answers.flatMap(({ status, body }, index) =>
        status === 200 ? [{ index, version: body.version }] : [],
      );
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(49);
      expect(await get('counter')).toMatchObject({
        value: { round, index: won[0]?.index },
        version: won[0]?.version,
      });
      version = won[0]?.version ?? 0;
    }
  });

  it('loses no increment of 15 that are made at once', async () => {
    await set('counter', 0);
    const increment = async (): Promise<void> => {
      for (;;) {
        const now = await get('counter');
        const value = Number(now?.value) + 1;
        const { status } = await set('counter', value, { 'if-match': `"${now?.version}"` });
        if (status === 200) return;
      }
    };
    await Promise.all(Array.from({ length: 15 }, increment));
    expect(await get('counter')).toMatchObject({ value: 15, version: 16 });
  });
});

describe('an Idempotency-Key on a PUT', () => {
  it('gives the same answer, and one version', async () => {
    const once = { 'idempotency-key': 'once' };
    const first = await set('a', { n: 1 }, once);
    expect((await set('a', { n: 1 }, once)).body).toEqual(first.body);
    const answers = await Promise.all(
      ['1', '2', '3'].map(() => set('b', 1, { 'idempotency-key': 'race' })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const { body } = await set('b', 1, { 'idempotency-key': 'race' });
    expect(body).toMatchObject({ key: 'b', version: 2 });
    const other = await set('a', { n: 2 }, once);
    expect(other).toMatchObject(refused(400, 'VALIDATION_FAILED', names('Idempotency-Key')));
    expect(await get('a')).toMatchObject({ value: { n: 1 }, version: 1 });
  });
});

describe('the ledger', () => {
  interface Entry {
    readonly op: string;
    readonly subject: string;
    readonly outcome: string;
    readonly code: string | null;
    readonly input_digest: string;
  }

  const entries = async (subject: string) => {
    const { body } = await gateway.call<{ items: Entry[] }>('GET', `/v1/ledger?subject=${subject}`);
    return body.items;
  };

  it('has one entry of every write, and none of a read', async () => {
    await set('a', 'secret words');
    await get('a');
    await gateway.call('GET', '/v1/kv');
    await gateway.call('GET', '/v1/usage');
    await set('a', 'other words', { 'if-none-match': '*' });
    await remove('a');
    await remove('a');
    const found = await entries('a');
    expect(found.map(({ op, outcome, code }) => [op, outcome, code])).toEqual([
      ['kv_delete', 'ok', null],
      ['kv_delete', 'ok', null],
      ['kv_set', 'error', 'PRECONDITION_FAILED'],
      ['kv_set', 'ok', null],
    ]);
    expect(JSON.stringify(found)).not.toContain('words');
    const all = await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?limit=500');
    expect(all.body.items.map(({ op }) => op)).not.toContain('kv_get');
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });

  it('says nothing of the value that somebody could guess by', async () => {
    await set('a', 1);
    const second = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
    await gateway.call('PUT', '/v1/kv/a', { body: 1, key: second.apiKey });
    const theirs = await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?subject=a', {
      key: second.apiKey,
    });
    const [ours] = await entries('a');
    expect(ours?.input_digest).toMatch(/^\w{16,}/);
    expect(theirs.body.items[0]?.input_digest).not.toBe(ours?.input_digest);
  });
});
