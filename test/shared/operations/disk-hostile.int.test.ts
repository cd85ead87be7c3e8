import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, type Call } from '../../helpers/calls.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { rawRequest } from '../../helpers/raw-http.ts';

interface ToolAnswer {
  readonly result?: {
    readonly isError: boolean;
    readonly content: { readonly text: string }[];
  };
  readonly error?: { readonly message: string };
}

const KIB = 1024;

let gateway: TestGateway;
let call: Call;
beforeAll(async () => {
  gateway = await TestGateway.start();
  ({ call } = await caller(gateway, gateway.apiKey));
});
afterAll(() => gateway.stop());

/** A request with a body as it is written. */
async function send(method: string, path: string, body: string | null = null) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    body,
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> };
}

/** A tool over MCP, its arguments as they are written; the beginning of the answer's text. */
async function tool(name: string, args: string): Promise<string> {
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
  });
  const { result, error } = (await response.json()) as ToolAnswer;
  return result?.content[0]?.text ?? error?.message ?? '';
}

const refused = (path: string) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_FAILED', details: { fields: [{ path }] } } },
});

/** ASCII, so that lone surrogates stay what they are on the way. */
const escaped = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const CONTROLS = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)].map((code) =>
  String.fromCharCode(code),
);

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** One of each kind; `rules/disk-name` knows all of them. */
const BAD_NAMES = ['a\nb', 'a\udfffb', `x${'é'.repeat(256)}`, 'a/../../b'];
const EMPTY_SEGMENTS = ['a//b', 'disk:///a'];

describe('a name that no key may have', () => {
  const tools = ['kv_set', 'kv_get', 'kv_delete'];

  it.each(['', ...BAD_NAMES].map((name) => [escaped(name), name]))(
    'is refused by each tool: %s',
    async (text) => {
      const answers = await Promise.all(tools.map((name) => tool(name, `{"key":${text}}`)));
      for (const answer of answers) expect(answer).toMatch(/^VALIDATION_FAILED: .* key: [^;]*$/);
    },
  );

  it('is refused in a URL, as far as one can be written there', async () => {
    const names = [...CONTROLS.map((control) => `a${control}b`), 'x'.repeat(513), 'é'.repeat(257)];
    for (const name of names) {
      const path = `/v1/kv/${encodeURIComponent(name)}`;
      expect(await send('PUT', path, '1')).toMatchObject(refused('key'));
      expect(await send('GET', path)).toMatchObject(refused('key'));
      expect(await send('DELETE', path)).toMatchObject(refused('key'));
    }
    for (const encoded of ['%ED%A0%80', '%FF', '%C0%80', 'a%']) {
      expect(await send('PUT', `/v1/kv/${encoded}`, '1')).toMatchObject(refused('key'));
    }
  });

  it.each([
    ['/v1/kv/.', 'key'],
    ['/v1/kv/..', 'key'],
    ['/v1/kv/%2E', 'key'],
    ['/v1/kv/a/../b', 'key'],
    ['/v1/kv/a/%2e%2e/b', 'key'],
    ['/v1/kv/../state/a', 'key'],
    ['/v1/kv/../../u/a', 'key'],
    ['/v1/state/.', 'task_id'],
    ['/v1/files/a/./b', 'path'],
    ['/v1/files/.', 'path'],
  ])('is not resolved as a path: %s', async (target, path) => {
    const answer = await rawRequest(gateway.url, [
      `PUT ${target} HTTP/1.1`,
      `Authorization: Bearer ${gateway.apiKey}`,
      'Content-Length: 0',
    ]);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('VALIDATION_FAILED');
    expect(answer.text).toContain(`"path":"${path}"`);
  });
});

describe('a name that no file may have', () => {
  it.each(['', ...BAD_NAMES, ...EMPTY_SEGMENTS].map((name) => [escaped(name), name]))(
    'is refused by each tool: %s',
    async (text) => {
      const inputs = [
        tool('file_put', `{"path":${text},"content_base64":""}`),
        tool('file_put', `{"path":${text},"upload":{"size":1}}`),
        ...['file_get', 'file_delete', 'file_url'].map((name) => tool(name, `{"path":${text}}`)),
      ];
      for (const answer of await Promise.all(inputs)) {
        expect(answer).toMatch(/^VALIDATION_FAILED: .* path: [^;]*$/);
      }
    },
  );

  it.each(['/v1/files//', '/v1/files/a//b', '/v1/files/a/', '/v1/files/%2Fa', '/v1/files/a%2F'])(
    'is refused in a URL: %s',
    async (path) => {
      expect(await send('PUT', path, 'x')).toMatchObject(refused('path'));
    },
  );
});

describe('a name', () => {
  it.each([
    ' ',
    'a\u2028b\u2029c',
    '%',
    '%2F',
    '?a=b#c',
    '__proto__',
    'constructor',
    "'; DROP TABLE kv; --",
    '\u00a0',
    '\u200b\u202e',
    '\ufeff',
    '\ufffe\uffff',
    '\u{10ffff}',
    '...',
    'a/...',
    'disk:',
    'x'.repeat(512),
    'é'.repeat(256),
    '😀'.repeat(128),
  ])('may be %j, of a key and of a file', async (name) => {
    for (const base of ['/v1/kv', '/v1/files']) {
      const path = `${base}/${encodeURIComponent(name)}`;
      expect((await send('PUT', path, '1')).status).toBe(200);
      expect((await send('GET', path)).body).toMatchObject({ version: expect.any(Number) });
      const list = await send('GET', `${base}?limit=100&prefix=${encodeURIComponent(name)}`);
      const items = list.body['items'] as { key?: string; path?: string }[];
      expect(items.map((item) => item.key ?? item.path)).toEqual([name]);
      expect((await send('DELETE', path)).body).toEqual({ deleted: true });
    }
  });

  it('is not normalised: what looks the same is two', async () => {
    const [nfc, nfd] = ['caf\u00e9', 'cafe\u0301'];
    for (const base of ['/v1/kv', '/v1/files']) {
      for (const [index, name] of [nfc, nfd].entries()) {
        await send('PUT', `${base}/${encodeURIComponent(name)}`, '1'.repeat(index + 1));
      }
      const list = await send('GET', `${base}?prefix=caf`);
      expect(list.body['items']).toMatchObject([{ size_bytes: 2 }, { size_bytes: 1 }]);
    }
    expect((await call('kv_get', { key: nfc })).value).toMatchObject({ key: nfc, value: 1 });
    expect((await call('kv_get', { key: nfd })).value).toMatchObject({ key: nfd, value: 11 });
    expect((await call('kv_get', { key: 'CAF\u00c9' })).value).toBeNull();
  });

  it('has the same slashes, written as they are or as %2F', async () => {
    for (const base of ['/v1/kv', '/v1/files']) {
      await send('PUT', `${base}/one/two/three`, '1');
      expect((await send('PUT', `${base}/one%2Ftwo%2fthree`, '2')).status).toBe(200);
      const list = await send('GET', `${base}?prefix=one/`);
      expect(list.body['items']).toHaveLength(1);
      expect((await send('DELETE', `${base}/one%2Ftwo/three`)).body).toEqual({ deleted: true });
    }
    // A key may have slashes anywhere.
    for (const key of ['/', '//', '/lead', 'trail/', 'a//b']) {
      expect((await send('PUT', `/v1/kv/${key}`, '1')).status).toBe(200);
      expect((await call('kv_get', { key })).value).toMatchObject({ key });
    }
  });

  it('of a file may be given as a reference', async () => {
    expect((await send('PUT', '/v1/files/disk%3A%2F%2Fref%2Fa', 'x')).body).toMatchObject({
      path: 'ref/a',
      ref: 'disk://ref/a',
    });
    expect((await send('GET', '/v1/files/disk://ref/a')).body).toMatchObject({ path: 'ref/a' });
    const longest = 'x'.repeat(512);
    const put = { path: `disk://${longest}`, content_base64: '' };
    expect((await call('file_put', put)).value).toMatchObject({ path: longest });
    expect((await call('file_delete', { path: 'disk://ref/a' })).value).toEqual({ deleted: true });
    // To keys it means nothing.
    await call('kv_set', { key: 'disk://a', value: 1 });
    expect((await call('kv_get', { key: 'a' })).value).toBeNull();
  });
});

describe('the paths of attachments', () => {
  it.each(['evt_', 'evt_1', 'evt_1/a.pdf', 'disk://evt_1/a.pdf'])(
    'are not written: %s',
    async (path) => {
      const input = { path, content_base64: '' };
      expect((await call('file_put', input)).code).toBe('PATH_RESERVED');
      expect((await call('file_put', { path, upload: { size: 1 } })).code).toBe('PATH_RESERVED');
      const complete = `upl_${'0'.repeat(26)}`;
      expect((await call('file_put', { path, complete })).code).toBe('PATH_RESERVED');
      expect((await call('file_delete', { path })).code).toBe('PATH_RESERVED');
      expect((await call('file_get', { path })).code).toBe('NOT_FOUND');
      expect((await call('file_url', { path })).code).toBe('NOT_FOUND');
    },
  );
});

describe('a value', () => {
  it('is 256 KB at most, over REST as over MCP', async () => {
    const texts: [string, boolean][] = [
      [`"${'x'.repeat(256 * KIB - 2)}"`, true],
      [`"${'x'.repeat(256 * KIB - 1)}"`, false],
      [`"${'é'.repeat(128 * KIB - 1)}"`, true],
      [`"${'é'.repeat(128 * KIB - 1)}x"`, false],
      // A lone surrogate stays an escape, and a number as it is written.
      [`[${'1e20,'.repeat(52_428)}1]`, true],
      [`[${'1e20,'.repeat(52_428)}100]`, false],
      [`"${'\\ud800'.repeat(43_690)}"`, true],
      // What counts is the value, and not how it is escaped on the way.
      [`"${'\\u0041'.repeat(256 * KIB - 2)}"`, true],
      [`"${'\\u0041'.repeat(256 * KIB - 1)}"`, false],
      [`["${'x'.repeat(256 * KIB - 5)}",${' '.repeat(256 * KIB)}1]`, false],
      [`["${'x'.repeat(256 * KIB - 6)}",${' '.repeat(256 * KIB)}1]`, true],
    ];
    for (const [text, fits] of texts) {
      const rest = await send('PUT', '/v1/kv/big', text);
      const mcp = await tool('kv_set', `{"key":"big","value":${text}}`);
      const state = await send('PUT', '/v1/state/big', `{"state":${text}}`);
      expect(state.status).toBe(rest.status);
      expect(rest.status).toBe(fits ? 200 : 413);
      expect(rest.text).toContain(fits ? '"size_bytes":262' : 'PAYLOAD_TOO_LARGE');
      expect(mcp).toContain(fits ? '"size_bytes":262' : 'PAYLOAD_TOO_LARGE');
    }
  });

  const values = [
    '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toJSON":"x","toString":null}',
    '[{"__proto__":[]},{"hasOwnProperty":0,"then":1}]',
    '{"":"","\\u0000":"\\u0000","a":"\\ud800\\udfff\\ud800"}',
    '["\\udfff","\ud83d\ude00","\u2028\u2029\ufeff"]',
    '{"b":1,"a":2,"10":3,"9":4}',
    '[1.7976931348623157e+308,5e-324,-1e-7,9007199254740991,0.1,1e+21]',
    `${'['.repeat(124)}${']'.repeat(124)}`,
    `${'{"a":'.repeat(123)}{}${'}'.repeat(123)}`,
    `[${'0,'.repeat(131_000)}0]`,
    '{"key":"other","value":1,"if_version":9}',
  ];
  it.each(values.map((text) => [text.slice(0, 60), text]))(
    'comes back as it went in: %s',
    async (_begins, text) => {
      expect((await send('PUT', '/v1/kv/odd', text)).status).toBe(200);
      const expected = JSON.stringify(JSON.parse(text));
      expect((await send('GET', '/v1/kv/odd')).text).toContain(`"value":${expected},"expires_at"`);
      expect(await tool('kv_set', `{"key":"odd","value":${text}}`)).toContain('"key":"odd"');
      expect(await tool('kv_get', '{"key":"odd"}')).toContain(`"value":${expected},"expires_at"`);
      const state = `{"task_id":"odd","state":${text}}`;
      expect(await tool('state_save', state)).toContain('"task_id":"odd"');
      expect((await send('GET', '/v1/state/odd')).text).toContain(`"state":${expected},"note"`);
      expect('admin' in {}).toBe(false);
    },
  );

  it.each([
    ['a number beyond a double', '[1e999]'],
    ['one below', '-1e999'],
    ['too deep', `${'['.repeat(129)}${']'.repeat(129)}`],
    ['far too deep', `${'['.repeat(60_000)}${']'.repeat(60_000)}`],
    ['no JSON', '{"a":'],
    ['a number with a hole', '1.'],
  ])('that is %s is refused, and stores nothing', async (_what, text) => {
    expect(await send('PUT', '/v1/kv/refused', text)).toMatchObject(refused('value'));
    expect(await tool('kv_set', `{"key":"refused","value":${text}}`)).toBe('Parse error');
    expect((await call('kv_get', { key: 'refused' })).value).toBeNull();
  });

  it('of any JSON comes back as it went in', async () => {
    const property = fc.asyncProperty(
      fc.jsonValue({ stringUnit: 'binary', noUnicodeString: false, maxDepth: 6 }),
      async (value) => {
        const text = JSON.stringify(value);
        const stored = await send('PUT', '/v1/kv/any', text);
        const shown = JSON.stringify(JSON.parse(text));
        expect(stored.body).toMatchObject({ size_bytes: Buffer.byteLength(shown) });
        expect((await send('GET', '/v1/kv/any')).text).toContain(`"value":${shown},"expires_at"`);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
