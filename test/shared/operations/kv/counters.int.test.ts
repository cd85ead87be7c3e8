import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Counted {
  readonly value: number;
  readonly expires_at: string | null;
  readonly version: number;
}

interface Refused {
  readonly error: {
    readonly code: string;
    readonly hint: string | null;
    readonly details?: object;
  };
}

interface Stored {
  readonly key: string;
  readonly value: unknown;
  readonly expires_at: string | null;
}

const START = Date.UTC(2026, 0, 2);
const later = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock(START);
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

async function post<T>(path: string, body: object, headers: Record<string, string> = {}) {
  return gateway.call<T>('POST', path, { body, headers });
}

const incr = (body: object, headers?: Record<string, string>) =>
  post<Counted & Refused>('/v1/kv-incr', body, headers);
const touch = (body: object) => post<Counted & Refused>('/v1/kv-touch', body);
const mget = (keys: readonly string[]) =>
  post<{ items: (Stored | null)[] } & Refused>('/v1/kv-mget', { keys });
const get = async (key: string) => (await gateway.call<Stored | null>('GET', `/v1/kv/${key}`)).body;
const set = (key: string, value: unknown, query = '') =>
  gateway.call('PUT', `/v1/kv/${key}${query}`, { body: value });

interface Page {
  readonly items: Stored[];
  readonly next_cursor: string | null;
}

const page = async (query: string): Promise<Page> =>
  (await gateway.call<Page>('GET', `/v1/kv?values=true&${query}`)).body;

describe('kv_incr', () => {
  it('counts from 0, up and down', async () => {
    expect((await incr({ key: 'n' })).body).toEqual({
      key: 'n',
      value: 1,
      expires_at: null,
      version: 1,
    });
    expect((await incr({ key: 'n', by: 41 })).body.value).toBe(42);
    expect((await incr({ key: 'n', by: -50 })).body.value).toBe(-8);
    expect(await get('n')).toMatchObject({ value: -8 });
  });

  it('loses no count when agents count at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => incr({ key: 'n' })));
    const values = answers.map(({ body }) => body.value).toSorted((a, b) => a - b);
    expect(values).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  it('counts once when a call is repeated', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await incr({ key: 'n', by: 5 }, key);
    expect((await incr({ key: 'n', by: 5 }, key)).body).toEqual(first.body);
    expect(await get('n')).toMatchObject({ value: 5 });
  });

  it('keeps the expiry, unless it is given one, and starts again after it', async () => {
    expect((await incr({ key: 'n', ttl_seconds: 60 })).body.expires_at).toBe(later(60));
    clock.advance(30_000);
    expect((await incr({ key: 'n' })).body).toMatchObject({ value: 2, expires_at: later(60) });
    expect((await incr({ key: 'n', ttl_seconds: 60 })).body.expires_at).toBe(later(90));
    clock.advance(60_000);
    expect((await incr({ key: 'n' })).body).toMatchObject({ value: 1, expires_at: null });
  });

  it.each([
    ['a text', '5'],
    ['a fraction', 1.5],
    ['an object', { n: 1 }],
    ['null', null],
    ['more than a safe integer', 2 ** 60],
  ])('refuses %s, and leaves it as it was', async (_title, value) => {
    await set('n', value);
    const { status, body } = await incr({ key: 'n' });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.error.details).toEqual({
      fields: [{ path: 'key', message: "Its value isn't an integer." }],
    });
    expect(await get('n')).toMatchObject({ value });
  });

  it('refuses a sum that JSON numbers cannot hold exactly', async () => {
    await set('n', Number.MAX_SAFE_INTEGER);
    const { status, body } = await incr({ key: 'n' });
    expect(status).toBe(400);
    expect(JSON.stringify(body.error.details)).toContain('out of range');
    expect((await incr({ key: 'n', by: -1 })).body.value).toBe(Number.MAX_SAFE_INTEGER - 1);
  });

  it('keeps the totals of the disk', async () => {
    await incr({ key: 'n', by: 100 });
    await incr({ key: 'n', by: -95 });
    const { body } = await gateway.call<{ disk: object; keys: object }>('GET', '/v1/usage');
    expect(body).toMatchObject({ disk: { key_bytes: 1 }, keys: { used: 1 } });
  });
});

describe('kv_touch', () => {
  it('moves the expiry without a new version, or takes it away', async () => {
    await set('a', { big: true }, '?ttl_seconds=60');
    clock.advance(30_000);
    expect((await touch({ key: 'a', ttl_seconds: 60 })).body).toEqual({
      key: 'a',
      expires_at: later(90),
      version: 1,
    });
    clock.advance(59_999);
    expect(await get('a')).toMatchObject({ value: { big: true } });
    expect((await touch({ key: 'a' })).body.expires_at).toBeNull();
    clock.advance(86_400_000);
    expect(await get('a')).not.toBeNull();
  });

  it('lets a key expire that never did', async () => {
    await set('a', 1);
    await touch({ key: 'a', ttl_seconds: 1 });
    clock.advance(1000);
    expect(await get('a')).toBeNull();
    expect((await touch({ key: 'a', ttl_seconds: 1 })).body.error).toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('No key a in this project') as string,
    });
  });
});

describe('kv_mget', () => {
  it('answers in the order asked, with null for what is missing', async () => {
    await set('a', 1);
    await set('b', [2]);
    await set('gone', 3, '?ttl_seconds=1');
    clock.advance(1000);
    const { items } = (await mget(['b', 'none', 'a', 'gone', 'b'])).body;
    expect(items.map((item) => item?.value ?? null)).toEqual([[2], null, 1, null, [2]]);
  });

  it.each([
    ['no key', []],
    ['over 100 keys', Array.from({ length: 101 }, (_, n) => `k${n}`)],
    ['an empty key', ['a', '']],
  ])('refuses %s', async (_title, keys) => {
    expect((await mget(keys)).body.error.code).toBe('VALIDATION_FAILED');
  });
});

describe('kv_list with values', () => {
  it('has the value of each key', async () => {
    await set('a/1', 1);
    await set('a/2', { two: 2 });
    await set('b', 3);
    const { items, next_cursor } = await page('prefix=a/');
    expect(items.map(({ key, value }) => [key, value])).toEqual([
      ['a/1', 1],
      ['a/2', { two: 2 }],
    ]);
    expect(next_cursor).toBeNull();
  });

  it('ends a page before its values pass 1 MB, and goes on behind it', async () => {
    const keys = Array.from({ length: 7 }, (_, n) => `k${n}`);
    for (const key of keys) await set(key, 'x'.repeat(200 * 1024));
    const first = await page('limit=100');
    expect(first.items.map(({ key }) => key)).toEqual(keys.slice(0, 5));
    const second = await page(`limit=100&cursor=${first.next_cursor}`);
    expect(second.items.map(({ key }) => key)).toEqual(keys.slice(5));
    expect(second.next_cursor).toBeNull();
  });
});
