import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Page {
  readonly items: Record<string, unknown>[];
  readonly next_cursor: string | null;
}

/** What keys and files have in common, as lists show them. */
interface Shelf {
  readonly name: 'key' | 'path';
  readonly url: string;
  readonly put: (name: string) => Promise<unknown>;
}

let clock: FakeClock;
let gateway: TestGateway;
let admin: string;
let projects = 0;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
});
beforeEach(() => freshProject());
afterAll(() => gateway.stop());

/** An empty disk costs less than a new gateway. */
async function freshProject(): Promise<void> {
  projects += 1;
  const made = await gateway.gateway.createProject({ name: 'Test', slug: `list-${projects}` });
  admin = made.apiKey;
}

const url = (base: string, name: string): string => `${base}/${encodeURIComponent(name)}`;

const keys: Shelf = {
  name: 'key',
  url: '/v1/kv',
  put: (name) => gateway.call('PUT', url('/v1/kv', name), { key: admin, body: name.length }),
};

const files: Shelf = {
  name: 'path',
  url: '/v1/files',
  put: (name) => gateway.call('PUT', url('/v1/files', name), { key: admin, body: '' }),
};

const remove = (shelf: Shelf, name: string) =>
  gateway.call('DELETE', url(shelf.url, name), { key: admin });

const page = (shelf: Shelf, query: Record<string, string | number>) =>
  gateway.call<Page>(
    'GET',
    `${shelf.url}?${new URLSearchParams(query as Record<string, string>).toString()}`,
    { key: admin },
  );

async function names(
  shelf: Shelf,
  query: Record<string, string | number> = {},
): Promise<unknown[]> {
  const { body } = await page(shelf, { limit: 100, ...query });
  return body.items.map((item) => item[shelf.name]);
}

/** All pages, `limit` at a time. `between` runs before each page but the first, with what was seen. */
async function walk(
  shelf: Shelf,
  query: Record<string, string | number>,
  between: (seen: readonly string[]) => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const { body }: { body: Page } = await page(shelf, {
      ...query,
      ...(cursor !== null && { cursor }),
    });
    seen.push(...body.items.map((item) => String(item[shelf.name])));
    if (body.next_cursor === null) return seen;
    cursor = body.next_cursor;
    await between(seen);
  }
}

const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

const refused = (path: string) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_FAILED', details: { fields: [{ path }] } } },
});

describe.each([keys, files])('a list by $name', (shelf) => {
  it('shows what there is, without values and bytes', async () => {
    expect(await page(shelf, {})).toMatchObject({
      status: 200,
      body: { items: [], next_cursor: null },
    });
    await shelf.put('a');
    const { body } = await page(shelf, {});
    expect(Object.keys(body.items[0] ?? {}).toSorted()).toEqual(
      {
        key: ['expires_at', 'key', 'size_bytes', 'updated_at', 'version'],
        path: ['content_type', 'path', 'ref', 'sha256', 'size_bytes', 'updated_at', 'version'],
      }[shelf.name],
    );
    expect(body.items[0]).toMatchObject({ [shelf.name]: 'a', version: 1 });
  });

  it('is in the order of bytes, where UTF-16 has another', async () => {
    const ordered = [
      'A',
      'B',
      'a',
      'a/b',
      'aa',
      'z',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '😀',
      '\u{10ffff}',
    ];
    for (const name of ordered.toReversed()) await shelf.put(name);
    expect(await names(shelf)).toEqual(ordered);
    expect(ordered.toSorted(byBytes)).toEqual(ordered);
    expect(ordered.toSorted()).not.toEqual(ordered);
    expect(await walk(shelf, { limit: 1 })).toEqual(ordered);
  });

  it('is of a prefix, which may end within a segment and in the last character', async () => {
    const last = '\u{10ffff}';
    for (const name of [
      'ab/c',
      'ab',
      'abc',
      'aé',
      'ae\u0301',
      `a${last}`,
      `a${last}${last}`,
      'b',
      last,
    ]) {
      await shelf.put(name);
    }
    expect(await names(shelf, { prefix: 'ab' })).toEqual(['ab', 'ab/c', 'abc']);
    expect(await names(shelf, { prefix: 'ab/' })).toEqual(['ab/c']);
    expect(await names(shelf, { prefix: 'aé' })).toEqual(['aé']);
    expect(await names(shelf, { prefix: 'ae' })).toEqual(['ae\u0301']);
    expect(await names(shelf, { prefix: `a${last}` })).toEqual([`a${last}`, `a${last}${last}`]);
    expect(await names(shelf, { prefix: last })).toEqual([last]);
    expect(await names(shelf, { prefix: 'A' })).toEqual([]);
    expect(await names(shelf, { prefix: '%' })).toEqual([]);
    expect(await names(shelf, { prefix: '' })).toHaveLength(9);
  });

  it('goes on where it was, whatever comes and goes meanwhile', async () => {
    for (const name of ['b', 'd', 'f', 'h', 'j']) await shelf.put(name);
    let turn = 0;
    const seen = await walk(shelf, { limit: 2 }, async (before) => {
      turn += 1;
      const named = before.at(-1) ?? '';
      await remove(shelf, named);
      await shelf.put('a');
      await shelf.put(`${named}${named}`);
      await remove(shelf, 'f');
    });
    // The key a cursor names may go: its place stays.
    expect(seen).toEqual(['b', 'd', 'dd', 'h', 'hh', 'j']);
    expect(turn).toBe(2);
  });

  it('with a cursor of another prefix begins where both do', async () => {
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) await shelf.put(name);
    const { body } = await page(shelf, { limit: 1 });
    const cursor = body.next_cursor ?? '';
    expect(await names(shelf, { prefix: 'b', cursor })).toEqual(['b1', 'b2']);
    const { body: far } = await page(shelf, { limit: 3 });
    expect(await names(shelf, { prefix: 'a', cursor: far.next_cursor ?? '' })).toEqual([]);
  });

  it('has pages of 1 to 100, and 20 unless told otherwise', async () => {
    for (let index = 0; index < 101; index += 1)
      await shelf.put(`k${String(index).padStart(3, '0')}`);
    const sizes: number[] = [];
    for (const query of [{}, { limit: 1 }, { limit: 100 }]) {
      sizes.push((await page(shelf, query)).body.items.length);
    }
    expect(sizes).toEqual([20, 1, 100]);
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
      expect(await page(shelf, { limit })).toMatchObject(refused('limit'));
    }
    expect(await walk(shelf, { limit: 100 })).toHaveLength(101);
    await remove(shelf, 'k100');
    expect((await page(shelf, { limit: 100 })).body.next_cursor).toBeNull();
  });

  it.each([
    '',
    'x',
    '!',
    'Lg',
    'YS8u',
    'AA',
    'YQ==',
    'YR',
    '7aCA',
    '_w',
    Buffer.from('x'.repeat(513)).toString('base64url'),
    'x'.repeat(2049),
    Buffer.from('{"after":"a"}\n').toString('base64url'),
  ])('refuses a cursor it never gave: %j', async (cursor) => {
    expect(await page(shelf, { cursor })).toMatchObject(refused('cursor'));
  });

  it.each(['\0', 'a\u0001', '\u007f', '\u0085', 'é'.repeat(257), 'x'.repeat(513)])(
    'refuses a prefix that no name has: %j',
    async (prefix) => {
      const answer = await page(shelf, { prefix });
      expect(answer).toMatchObject(refused('prefix'));
    },
  );
});

describe('a list of keys', () => {
  it('leaves out what has expired, and fills its pages none the less', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const ttl = 'ace'.includes(name) ? '?ttl_seconds=1' : '';
      await gateway.call('PUT', `/v1/kv/${name}${ttl}`, { key: admin, body: 1 });
    }
    const { body: before } = await page(keys, { limit: 1 });
    clock.advance(999);
    expect(await names(keys)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    clock.advance(1);
    expect(await names(keys)).toEqual(['b', 'd', 'f']);
    expect((await page(keys, { limit: 2 })).body.items.map((item) => item['key'])).toEqual([
      'b',
      'd',
    ]);
    expect(await walk(keys, { limit: 1 })).toEqual(['b', 'd', 'f']);
    // The cursor names a key that has expired meanwhile.
    expect(await names(keys, { cursor: before.next_cursor ?? '' })).toEqual(['b', 'd', 'f']);
  });

  it('shows task states among the others', async () => {
    await gateway.call('PUT', '/v1/state/t', { key: admin, body: { state: 1, note: 'n' } });
    await keys.put('state');
    const { body } = await page(keys, { prefix: 'state/' });
    expect(body.items).toMatchObject([{ key: 'state/t', size_bytes: 1 }]);
    expect(JSON.stringify(body)).not.toContain('note');
  });
});

describe('pages of a list', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '/',
    ' ',
    'é',
    'e\u0301',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '\u{10ffff}',
  );
  const text = (minLength: number) => fc.string({ unit, minLength, maxLength: 4 });

  it('are together what sorting by bytes gives', async () => {
    const property = fc.asyncProperty(
      fc.uniqueArray(text(1), { maxLength: 25 }),
      fc.array(text(0), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 7 }),
      async (stored, prefixes, limit) => {
        await freshProject();
        await Promise.all(stored.map((name) => keys.put(name)));
        const paths = stored.filter((name) => !name.split('/').includes(''));
        await Promise.all(paths.map((name) => files.put(name)));
        for (const prefix of ['', ...prefixes]) {
          const expected = (all: readonly string[]) =>
            all.filter((name) => name.startsWith(prefix)).toSorted(byBytes);
          expect(await walk(keys, { prefix, limit })).toEqual(expected(stored));
          expect(await walk(files, { prefix, limit })).toEqual(expected(paths));
        }
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
});
