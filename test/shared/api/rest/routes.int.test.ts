import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { callsTo, HEAD, problem, serveRest, type RestFixture } from './fixture.ts';

const MIB = 1024 * 1024;
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`;

let rest: RestFixture;

beforeAll(async () => {
  rest = await serveRest();
});
beforeEach(() => {
  rest.asked.length = 0;
  rest.internal.length = 0;
});
afterAll(() => rest.close());

const { line, call } = callsTo(() => rest);

describe('a query', () => {
  it('is read by the kinds of the fields', async () => {
    const answer = await call('GET', '/v1/values/a?limit=3&flag=false&tags=a&tags=b');
    expect(answer.body).toEqual({
      test_get: { key: 'a', limit: 3, flag: false, tags: ['a', 'b'] },
    });
  });

  it('that holds what nobody knows is refused, each name with the nearest known one', async () => {
    const answer = await call('GET', '/v1/values/a?utm_source=x&__proto__=1&key=other');
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'VALIDATION_FAILED',
          details: {
            fields: ['utm_source', '__proto__', 'key'].map((path) => ({
              path,
              message: 'Unknown in the query.',
            })),
          },
        },
      },
    });
    const near = await call('GET', '/v1/values/a?limt=5');
    expect(near.body).toMatchObject(problem('limt', 'Unknown in the query. Did you mean `limit`?'));
  });

  it.each([
    ['limit=abc', 'limit'],
    ['limit=', 'limit'],
    ['limit=10', 'limit'],
    ['limit=2.5', 'limit'],
    ['flag=yes', 'flag'],
    ['tags=c', 'tags[0]'],
  ])('names the field of a wrong value: %s', async (query, path) => {
    expect(await call('GET', `/v1/values/a?${query}`)).toMatchObject({
      status: 400,
      body: problem(path),
    });
  });

  it('names all of them at once', async () => {
    const answer = await call('GET', '/v1/values/a?limit=0&flag=1&tags=a&tags=z');
    expect(answer.body).toMatchObject({
      error: { details: { fields: [{ path: 'limit' }, { path: 'flag' }, { path: 'tags[1]' }] } },
    });
  });
});

describe('a route of two operations', () => {
  it.each([
    [{ action: 'deploy' }, 'test_ask'],
    [{ question: 'Where?' }, 'test_question'],
    [{ question: 'Where?', options: ['here', 'there'] }, 'test_question'],
  ])('%j is meant for %s', async (body, name) => {
    const answer = await call('POST', '/v1/asks', JSON.stringify(body));
    expect([answer.status, answer.body]).toEqual([200, { [name]: body }]);
  });

  it.each([
    ['both', { action: 'deploy', question: 'Where?' }, 'action'],
    ['neither', {}, 'action'],
    ['no text', { question: null }, 'question'],
    ['a field of another', { action: 'deploy', answer: 'yes' }, 'answer'],
  ])('%s is refused, by name', async (_case, body, field) => {
    expect(await call('POST', '/v1/asks', JSON.stringify(body))).toMatchObject({
      status: 400,
      body: problem(field),
    });
  });

  it('takes no field from the query, so that an address cannot change what is meant', async () => {
    const answer = await call('POST', '/v1/asks?question=Where', '{"action":"deploy"}');
    expect(answer.body).toMatchObject(problem('question', 'Unknown in the query.'));
  });

  it('is one route to those who come by another method', async () => {
    const answer = await call('GET', '/v1/asks');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

/** What JSON.parse takes and we don't. */
const TOO_MUCH = ' It is nested too deep, has too many values, or a number beyond a double.';

describe('a body', () => {
  const make = '/v1/items/a/make';

  it.each(['', 'Content-Length: 0\r\n'])(
    'that nothing needs may be left out: %j',
    async (length) => {
      const answer = await rest.raw(`POST ${make} HTTP/1.1\r\n${HEAD}${length}\r\n`);
      expect(answer).toMatchObject({ status: 201, body: { test_post: { item_id: 'a' } } });
    },
  );

  it('that is left out lacks the fields that are needed', async () => {
    const answer = await rest.raw(`POST /v1/asks HTTP/1.1\r\n${HEAD}\r\n`);
    expect(answer).toMatchObject({ status: 400, body: problem('action') });
  });

  it.each([
    [undefined],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonp'],
    ['application/json-patch+json'],
    [''],
  ])('of the type %j is refused by the name of the header', async (type) => {
    const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    const answer = await rest.raw(
      `POST ${make} HTTP/1.1\r\n${HEAD}${typed}Content-Length: 2\r\n\r\n{}`,
    );
    expect(answer).toMatchObject({
      status: 400,
      body: problem('Content-Type', 'Expected `application/json`.'),
    });
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON ;a=b'])(
    'of the type %s is read',
    async (type) => {
      const answer = await call('POST', make, '{"count":1}', { 'content-type': type });
      expect(answer.body).toEqual({ test_post: { item_id: 'a', count: 1 } });
    },
  );

  it.each([
    ['blank', ' ', ' It stops being JSON at line 1, column 2.'],
    ['half', '{"name":', ' It stops being JSON at line 1, column 9.'],
    ['two', '{}\n{}', ' It stops being JSON at line 2, column 1.'],
    ['an array', '[{}]', ''],
    ['a text', '"{}"', ''],
    ['null', 'null', ''],
    ['NaN', '{"count":NaN}', ' It stops being JSON at line 1, column 10.'],
    ['a comment', '{} // there', ' It stops being JSON at line 1, column 4.'],
    ['depth', '{"a":'.repeat(20_000), ' It stops being JSON at line 1, column 100001.'],
    ['a huge number', '{"a":1e400}', TOO_MUCH],
    ['deep', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, TOO_MUCH],
  ])('that is %s is refused, and says where', async (_what, text, why) => {
    const answer = await call('POST', make, text);
    expect(answer).toMatchObject({
      status: 400,
      body: problem('', `The body must be a JSON object.${why}`),
    });
  });

  it('that is empty has no fields, whatever type it names', async () => {
    expect((await call('POST', make, '')).body).toEqual({ test_post: { item_id: 'a' } });
  });

  it('that is no UTF-8 is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await call('POST', make, new Uint8Array(bytes))).toMatchObject({
      status: 400,
      body: problem('', 'The body must be a JSON object. It is not valid UTF-8.'),
    });
  });

  it('names unknown fields, also those a prototype has', async () => {
    const answer = await call('POST', make, '{"surprise":1,"__proto__":{"count":1}}');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: {
        details: {
          fields: [
            { path: 'surprise', message: 'Unknown field.' },
            { path: '__proto__', message: 'Unknown field.' },
          ],
        },
      },
    });
  });

  it('is strict about types: a text is no number', async () => {
    expect(await call('POST', make, '{"count":"1"}')).toMatchObject({ body: problem('count') });
  });

  it.each([
    ['128 KB', 'POST', make, '{"name":""}', MIB / 8],
    ['1 MB where the operation says so', 'PUT', '/v1/values/a', '{"value":""}', MIB],
  ])('of %s is read, and one byte more is refused', async (what, method, path, frame, limit) => {
    const body = (bytes: number) => frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
    expect((await call(method, path, body(limit))).status).toBeLessThan(300);
    const answer = await call(method, path, body(limit + 1));
    expect(answer.status).toBe(413);
    const limitText = what.split(' ', 2).join(' ');
    expect(answer.body).toMatchObject({
      error: { code: 'PAYLOAD_TOO_LARGE', hint: `At most ${limitText}.` },
    });
  });

  it('of thousands of unknown fields is told of twenty', async () => {
    const fields = Array.from({ length: 10_000 }, (_, n) => `"f${n}":1`);
    const answer = await call('POST', make, `{${fields.join(',')}}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: { fields: { length: 20 } } } });
  });

  it('that its sender broke off is no failure of ours', async () => {
    const { port } = new URL(rest.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST ${make} HTTP/1.1\r\n${JSON_HEAD}Content-Length: 1000\r\n\r\n{`);
    await vi.waitFor(() => expect(rest.asked).toContain('meter'), { timeout: 60_000 });
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rest.internal).toEqual([]);
  });

  it('is refused by its announced length, before it is sent', async () => {
    const answer = await rest.raw(
      `POST ${make} HTTP/1.1\r\n${JSON_HEAD}Content-Length: ${MIB + 1}\r\n\r\n{`,
    );
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('without a length is refused in passing', async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const chunks = Array.from({ length: 20 }, () => [`10000\r\n`, chunk, '\r\n']).flat();
    const answer = await rest.raw(
      `POST ${make} HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`,
      ...chunks,
    );
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
  });

  it('that is compressed is refused', async () => {
    const answer = await call('POST', make, new Uint8Array(gzipSync('{}')), {
      'content-encoding': 'gzip',
    });
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
    });
    const plain = await call('POST', make, '{}', { 'content-encoding': 'identity' });
    expect(plain.status).toBe(201);
  });
});

describe('the order of checks', () => {
  it('the key comes before the body: a huge one is not waited for', async () => {
    // Nobody sends it: whoever waited for it would wait for ever.
    const answer = await rest.raw(
      'POST /v1/items/a/make HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer bad\r\n' +
        'Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n',
    );
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED' } } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(rest.asked).toEqual(['authenticate']);
  });

  it('the key comes before whatever is wrong with the request', async () => {
    const answer = await call('POST', '/v1/items/a/make', '[', {
      authorization: 'Bearer bad',
      'content-type': 'text/plain',
    });
    expect(answer.status).toBe(401);
  });

  it('a call is metered before its body is read', async () => {
    await call('POST', '/v1/items/a/make', '[');
    expect(rest.asked).toEqual(['authenticate', 'meter']);
  });
});

describe('an answer', () => {
  it('is JSON that nobody stores, with the headers of the meter', async () => {
    const { headers } = await call('GET', '/v1/values/a');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('ratelimit')).toBe('"key";r=9;t=0');
  });

  it('to another method names those there are', async () => {
    for (const method of ['POST', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await call(method, '/v1/values/a');
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, PUT');
      expect(answer.body).toEqual({
        error: {
          code: 'METHOD_NOT_ALLOWED',
          message: 'This method is not allowed here.',
          hint: 'Allowed: GET, PUT.',
        },
      });
    }
  });

  it('to a failure of ours shows nothing of it, and keeps it for the log', async () => {
    const answer = await call('GET', '/v1/fail?how=break');
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: {
        code: 'INTERNAL',
        message: 'Internal error.',
        hint: 'Retry later; quote X-Request-Id.',
      },
    });
    expect(rest.internal).toEqual([new TypeError('secret detail')]);
  });

  it('that comes later says when', async () => {
    const answer = await call('GET', '/v1/fail?how=busy');
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'UNAVAILABLE', details: { retry_after: 3 } } },
    });
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(JSON.stringify(answer.body)).not.toContain('secret');
    expect(rest.internal).toEqual([new Error('secret queue')]);
  });

  it('always has an id of its own', async () => {
    const answers = [
      await call('GET', '/v1/values/a'),
      await call('GET', '/v1/values/a?limit=x'),
      await call('GET', '/v1/nothing'),
      await call('POST', '/v1/values/a'),
      await call('GET', '/v1/fail?how=break'),
      await call('GET', '/v1/fail?how=busy'),
      await call('GET', '/v1/values/a', undefined, { authorization: '' }),
      await call('PUT', '/v1/values/a', '{}', { 'content-encoding': 'br' }),
      await line('GET', '/v1/values/../values/a'),
      await line('GET', '/v1/values\\a'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      200, 400, 404, 405, 500, 503, 401, 415, 400, 400,
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(ids.filter((id) => !/^\S{10,}$/.test(id ?? ''))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(answers.every(({ headers }) => headers.get('content-type') === 'application/json')).toBe(
      true,
    );
  });
});
