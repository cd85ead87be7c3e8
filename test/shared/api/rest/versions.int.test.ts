import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rawOperations, storeAnswer, UPLOAD_TYPE } from '../raw-fixture.ts';
import { callsTo, HEAD, problem, serveRest, type RestFixture } from './fixture.ts';

let rest: RestFixture;

beforeAll(async () => {
  rest = await serveRest(rawOperations, storeAnswer);
});
beforeEach(() => {
  rest.asked.length = 0;
});
afterAll(() => rest.close());

const { call } = callsTo(() => rest);

async function get(key: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${rest.url}/v1/kv/${key}`, {
    method,
    headers: { authorization: 'Bearer good', ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the version of an answer', () => {
  it('is its ETag, when it was read and when it was written', async () => {
    expect((await get('a')).headers.get('etag')).toBe('"3"');
    expect((await call('PUT', '/v1/kv/a', '1')).headers.get('etag')).toBe('"4"');
    expect((await call('PUT', '/v1/files/a', 'x')).headers.get('etag')).toBe('"4"');
  });

  it.each(['none', 'bare', 'odd'])('is not made up: %s', async (key) => {
    const { status, headers } = await get(key, { 'if-none-match': '*' });
    expect(status).toBe(200);
    expect(headers.get('etag')).toBeNull();
  });

  it('has no part in a refusal', async () => {
    const refused = await call('PUT', '/v1/kv/a', '');
    expect([refused.status, refused.headers.get('etag')]).toEqual([400, null]);
  });
});

describe('an answer of nothing', () => {
  it('is null, and well', async () => {
    const { status, headers, text } = await get('none');
    expect([status, text]).toEqual([200, 'null']);
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('a conditional read', () => {
  it.each(['"3"', 'W/"3"', '*', '"1", "3"', '"1",W/"3" , "x,y"', ', "3",', '"a,b",W/"2","3"'])(
    'of what is known has no body: %s',
    async (known) => {
      const { status, headers, text } = await get('a', { 'if-none-match': known });
      expect([status, text]).toEqual([304, '']);
      expect(headers.get('etag')).toBe('"3"');
      expect(headers.get('x-request-id')).toMatch(/^\S{10,}$/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('ratelimit')).toBe('"key";r=9;t=0');
      expect(headers.get('content-type')).toBeNull();
      expect(rest.asked).toEqual(['authenticate', 'meter', 'execute']);
    },
  );

  it.each([
    '"4"',
    '"03"',
    '"33"',
    '3',
    '',
    '"3',
    "'3'",
    'w/"3"',
    'W/3',
    '"1", *',
    'x "3"',
    '"x"3"',
  ])('of anything else is answered whole: %s', async (known) => {
    const { status, text } = await get('a', { 'if-none-match': known });
    expect([status, JSON.parse(text)]).toEqual([200, { key: 'a', value: 1, version: 3 }]);
  });

  it('understands a header that is given twice', async () => {
    const twice = 'If-None-Match: "1"\r\nIf-None-Match: "3"\r\n';
    const answer = await rest.raw(`GET /v1/kv/a HTTP/1.1\r\n${HEAD}${twice}\r\n`);
    expect(answer.status).toBe(304);
  });

  it('reads a header as long as may be', async () => {
    const { status } = await get('a', { 'if-none-match': `${'W/"", '.repeat(2000)}"3` });
    expect(status).toBe(200);
  });
});

function kept({ headers }: { headers: Headers }) {
  return ['content-type', 'etag', 'cache-control', 'ratelimit'].map((name) => headers.get(name));
}

describe('a HEAD', () => {
  it.each([
    ['a', {}, 200],
    ['none', {}, 200],
    ['a', { 'if-none-match': '"3"' }, 304],
    ['a', { 'if-none-match': '"2"' }, 200],
    ['%ff', {}, 400],
  ])('answers like a GET, without the body: %s %j', async (key, headers, status) => {
    const head = await get(key, headers, 'HEAD');
    expect([head.status, head.text]).toEqual([status, '']);
    expect(head.headers.get('x-request-id')).toMatch(/^\S{10,}$/);
    expect(kept(head)).toEqual(kept(await get(key, headers)));
  });
});

describe('a conditional write', () => {
  it.each([
    [{ 'if-match': '"3"' }, 3],
    [{ 'if-match': '"9007199254740991"' }, Number.MAX_SAFE_INTEGER],
    [{ 'if-none-match': '*' }, 0],
  ])('asks for a version: %j', async (headers, version) => {
    for (const path of ['/v1/kv/a', '/v1/files/a', `/v1/kv/a?if_version=${version}`]) {
      const { status, body } = await call('PUT', path, '1', headers);
      expect([status, body['if_version']]).toEqual([200, version]);
    }
  });

  it('asks for any version with If-Match: *', async () => {
    const any = { 'if-match': '*' };
    for (const path of ['/v1/kv/a', '/v1/files/a', '/v1/kv/a?if_exists=true']) {
      const { status, body } = await call('PUT', path, '1', any);
      expect([status, body]).toMatchObject([200, { if_exists: true }]);
      expect(body).not.toHaveProperty('if_version');
    }
    expect((await call('PUT', '/v1/state/a', '{"state":1}', any)).body).toMatchObject({
      if_exists: true,
    });
    expect((await call('DELETE', '/v1/kv/a', undefined, any)).body).toMatchObject({
      if_exists: true,
    });
  });

  it('asks for none where no header does', async () => {
    const { body } = await call('PUT', '/v1/kv/a', '1');
    expect(body).not.toHaveProperty('if_version');
    expect(body).not.toHaveProperty('if_exists');
  });

  it('asks with a body of fields too', async () => {
    const state = await call('PUT', '/v1/state/a', '{"state":1}', { 'if-none-match': '*' });
    expect(state.body).toEqual({ task: 'a', state: 1, if_version: 0, version: 4 });
    expect(state.headers.get('etag')).toBe('"4"');
    const headers = { 'content-type': UPLOAD_TYPE, 'if-match': '"3"' };
    const same = await call('PUT', '/v1/files/a', '{"if_version":3}', headers);
    expect(same.body).toEqual({ path: 'a', if_version: 3, version: 4 });
    const other = await call('PUT', '/v1/files/a', '{"if_version":"3"}', headers);
    expect(other).toMatchObject({ status: 400, body: problem('If-Match') });
  });

  it.each([
    [{ 'if-match': 'W/"3"' }, 'If-Match'],
    [{ 'if-match': '*, "3"' }, 'If-Match'],
    [{ 'if-match': '"3", "4"' }, 'If-Match'],
    [{ 'if-match': '"3",' }, 'If-Match'],
    [{ 'if-match': '3' }, 'If-Match'],
    [{ 'if-match': '' }, 'If-Match'],
    [{ 'if-match': '""' }, 'If-Match'],
    [{ 'if-match': '"0"' }, 'If-Match'],
    [{ 'if-match': '"03"' }, 'If-Match'],
    [{ 'if-match': '"-3"' }, 'If-Match'],
    [{ 'if-match': '"3.0"' }, 'If-Match'],
    [{ 'if-match': '"3e0"' }, 'If-Match'],
    [{ 'if-match': '"9007199254740993"' }, 'If-Match'],
    [{ 'if-match': '"d41d8cd98f00b204"' }, 'If-Match'],
    [{ 'if-none-match': '"3"' }, 'If-None-Match'],
    [{ 'if-none-match': 'W/"3"' }, 'If-None-Match'],
    [{ 'if-none-match': '*, *' }, 'If-None-Match'],
    [{ 'if-none-match': '' }, 'If-None-Match'],
    [{ 'if-match': '"3"', 'if-none-match': '*' }, 'If-None-Match'],
    [{ 'if-match': '"3"', 'if-none-match': '"3"' }, 'If-None-Match'],
  ])('that is not about one version is refused: %j', async (headers, name) => {
    const answer = await call('PUT', '/v1/kv/a', '1', headers);
    expect(answer).toMatchObject({ status: 400, body: problem(name) });
    expect(rest.asked).toEqual(['authenticate', 'meter']);
  });

  it('that is given twice is refused', async () => {
    const twice = 'If-Match: "3"\r\nIf-Match: "3"\r\nContent-Length: 1\r\n\r\n1';
    const answer = await rest.raw(`PUT /v1/kv/a HTTP/1.1\r\n${HEAD}${twice}`);
    expect(answer).toMatchObject({ status: 400, body: problem('If-Match') });
  });

  it.each([
    ['if_version=4', { 'if-match': '"3"' }, 'If-Match'],
    ['if_version=0', { 'if-match': '"3"' }, 'If-Match'],
    ['if_version=three', { 'if-match': '"3"' }, 'If-Match'],
    ['if_version=3', { 'if-none-match': '*' }, 'If-None-Match'],
    ['if_exists=false', { 'if-match': '*' }, 'If-Match'],
  ])('is refused where header and query differ: %s %j', async (query, headers, name) => {
    const answer = await call('PUT', `/v1/kv/a?${query}`, '1', headers);
    expect(answer).toMatchObject({ status: 400, body: problem(name) });
    expect(rest.asked).not.toContain('execute');
  });

  it('is refused where the operation knows no conditions', async () => {
    const free = await call('PUT', '/v1/notes/a', '1');
    expect([free.status, free.headers.get('etag')]).toEqual([200, '"4"']);
    const match = await call('PUT', '/v1/notes/a', '1', { 'if-match': '"3"' });
    expect(match).toMatchObject({ status: 400, body: problem('If-Match') });
    const none = await call('PUT', '/v1/notes/a', '1', { 'if-none-match': '*' });
    expect(none).toMatchObject({ status: 400, body: problem('If-None-Match') });
  });

  it('is refused before its body is read', async () => {
    const unsent = 'If-Match: W/"3"\r\nContent-Length: 60000\r\n\r\n';
    const answer = await rest.raw(`PUT /v1/kv/a HTTP/1.1\r\n${HEAD}${unsent}`);
    expect(answer).toMatchObject({ status: 400, body: problem('If-Match') });
  });
});

describe('a conditional delete', () => {
  it('is of the version that If-Match names', async () => {
    const { status, body } = await call('DELETE', '/v1/kv/a', undefined, { 'if-match': '"3"' });
    expect([status, body]).toMatchObject([200, { key: 'a', if_version: 3 }]);
    const query = await call('DELETE', '/v1/kv/a?if_version=3', undefined, { 'if-match': '"3"' });
    expect([query.status, query.body]).toMatchObject([200, { if_version: 3 }]);
    expect((await call('DELETE', '/v1/kv/a')).body).not.toHaveProperty('if_version');
  });

  it.each([
    ['', { 'if-match': '3' }, 'If-Match'],
    ['', { 'if-match': '*, *' }, 'If-Match'],
    ['?if_version=4', { 'if-match': '"3"' }, 'If-Match'],
    ['', { 'if-none-match': '*' }, 'If-None-Match'],
    ['', { 'if-match': '"3"', 'if-none-match': '*' }, 'If-None-Match'],
  ])('is refused where it asks for anything else: %s %j', async (query, headers, name) => {
    const answer = await call('DELETE', `/v1/kv/a${query}`, undefined, headers);
    expect(answer).toMatchObject({ status: 400, body: problem(name) });
    expect(rest.asked).not.toContain('execute');
  });
});

const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';

describe('a precondition that an operation does not take', () => {
  it.each([
    ['PUT', '/v1/kv/a', { 'if-unmodified-since': DATE }, 'If-Unmodified-Since'],
    ['PUT', '/v1/kv/a', { 'if-modified-since': DATE }, 'If-Modified-Since'],
    ['DELETE', '/v1/kv/a', { 'if-unmodified-since': DATE }, 'If-Unmodified-Since'],
    ['GET', '/v1/kv/a', { 'if-match': '"3"' }, 'If-Match'],
    ['GET', '/v1/kv/a', { 'if-unmodified-since': DATE }, 'If-Unmodified-Since'],
  ])('is refused, not left unseen: %s %s %j', async (method, path, headers, name) => {
    const answer = await call(method, path, method === 'PUT' ? '1' : undefined, headers);
    expect(answer).toMatchObject({ status: 400, body: problem(name) });
    expect(rest.asked).not.toContain('execute');
  });

  it('only spares a read its body: the read answers whole', async () => {
    const { status, text } = await get('a', { 'if-modified-since': DATE });
    expect([status, JSON.parse(text)]).toMatchObject([200, { value: 1 }]);
  });
});

describe('an operation without versions', () => {
  it.each(['If-Match', 'If-None-Match', 'If-Unmodified-Since', 'If-Modified-Since'])(
    'refuses %s on a write, and has no ETag',
    async (header) => {
      const plain = await serveRest();
      try {
        const { call: callPlain } = callsTo(() => plain);
        for (const [method, path] of [
          ['PUT', '/v1/values/a'],
          ['POST', '/v1/asks'],
        ] as const) {
          const refused = await callPlain(method, path, '{}', { [header]: '*' });
          expect(refused).toMatchObject({ status: 400, body: problem(header) });
        }
        const read = await callPlain('GET', '/v1/values/a', undefined, { 'if-none-match': '*' });
        expect([read.status, read.headers.get('etag')]).toEqual([200, null]);
      } finally {
        await plain.close();
      }
    },
  );
});
