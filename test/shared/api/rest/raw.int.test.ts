import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  FILE_MAX_BYTES,
  KV_MAX_BYTES,
  rawOperations,
  storeAnswer,
  UPLOAD_TYPE,
} from '../raw-fixture.ts';
import { callsTo, HEAD, problem, serveRest, type RestFixture } from './fixture.ts';

const FIELDS_MAX_BYTES = 128 * 1024;
const UPLOAD = { 'content-type': UPLOAD_TYPE };

let rest: RestFixture;

beforeAll(async () => {
  rest = await serveRest(rawOperations, storeAnswer);
});
beforeEach(() => {
  rest.asked.length = 0;
  rest.internal.length = 0;
});
afterAll(() => rest.close());

const { call } = callsTo(() => rest);

/** A PUT as the lines of it are: with no header that a client adds unasked. */
function put(target: string, body: string | Uint8Array, ...headers: readonly string[]) {
  const all = [...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', ''].join('\r\n');
  return rest.raw(`PUT ${target} HTTP/1.1\r\n${HEAD}${all}`, body);
}

function chunked(target: string, ...chunks: readonly (string | Buffer)[]) {
  const parts = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']);
  const head = `PUT ${target} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
  return rest.raw(head, ...parts, '0\r\n\r\n');
}

/** JSON of this length. */
function textOf(bytes: number): string {
  return `"${'x'.repeat(bytes - 2)}"`;
}

/** Sends the beginning of a request and goes away. */
async function breakOff(text: string): Promise<void> {
  const socket = connect(Number(new URL(rest.url).port), '127.0.0.1');
  socket.write(text);
  await vi.waitFor(() => expect(rest.asked).toContain('meter'), { timeout: 60_000 });
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('a body that is JSON', () => {
  it.each([
    ['{"n":[1]}', { n: [1] }],
    ['[1,null]', [1, null]],
    ['"text"', 'text'],
    ['""', ''],
    ['-0.5e2', -50],
    ['true', true],
    ['false', false],
    ['null', null],
    [' \r\n{}\t', {}],
    ['\ufeff1', 1],
    ['"\\u0000"', '\0'],
    ['"\\ud800"', '\ud800'],
    ['"\u2028ü😀"', '\u2028ü😀'],
    ['[[['.padEnd(128, '[') + ']'.repeat(128), expect.any(Array)],
  ])('%s is the value', async (text, value) => {
    const answer = await call('PUT', '/v1/kv/a', text);
    expect(answer).toMatchObject({ status: 200, body: { key: 'a', value, version: 4 } });
  });

  it('is the value whole, also where it looks like fields', async () => {
    const value = { key: 'b', value: 1, ttl_seconds: 60, if_version: 9 };
    const answer = await call('PUT', '/v1/kv/a', JSON.stringify(value));
    expect(answer.body).toEqual({ key: 'a', value, version: 4 });
  });

  it('keeps every member, also those a prototype has', async () => {
    const text = '{"__proto__":{"admin":true},"constructor":1,"in":{"__proto__":[]}}';
    const response = await fetch(`${rest.url}/v1/kv/a`, {
      method: 'PUT',
      headers: { authorization: 'Bearer good' },
      body: text,
    });
    expect(await response.text()).toBe(`{"key":"a","value":${text},"version":4}`);
    expect('admin' in {}).toBe(false);
  });

  it.each([
    [],
    ['Content-Type:'],
    ['Content-Type: application/json; charset=utf-8'],
    ['Content-Type: text/plain'],
    ['Content-Type: application/octet-stream'],
    ['Content-Type: nonsense'],
    ['Content-Type: application/x-www-form-urlencoded2'],
    [`Content-Type: ${UPLOAD_TYPE}`],
  ])('has any Content-Type or none: %s', async (...headers) => {
    expect(await put('/v1/kv/a', '{"n":1}', ...headers)).toMatchObject({
      status: 200,
      body: { value: { n: 1 } },
    });
  });

  it.each([
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-URLEncoded ; charset=utf-8',
    'multipart/form-data; boundary=x',
    'Multipart/Mixed',
  ])('is no form: %s', async (type) => {
    expect(await put('/v1/kv/a', '1', `Content-Type: ${type}`)).toMatchObject({
      status: 400,
      body: problem('Content-Type', 'Expected JSON, not a form.'),
    });
    expect(rest.asked).not.toContain('execute');
  });

  it.each([
    ['nothing', '', /empty/],
    ['blank', '  \n', /one JSON value/],
    ['half', '{"n":', /one JSON value/],
    ['two values', '1 2', /one JSON value/],
    ['NaN', 'NaN', /one JSON value/],
    ['a comment', '1 // one', /one JSON value/],
    ['a form', 'value=1', /one JSON value/],
    ['a number beyond a double', '[1e999]', /one JSON value/],
    ['too deep', '['.repeat(129) + ']'.repeat(129), /one JSON value/],
    ['far too deep', '['.repeat(60_000), /one JSON value/],
    ['a zero byte', '"\0"', /one JSON value/],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
    ['a lone surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
    ['UTF-16', Buffer.from('\ufeff1', 'utf16le'), /UTF-8/],
  ])('that is %s is refused by the name of the field', async (_what, body, message) => {
    expect(await put('/v1/kv/a', body)).toMatchObject({
      status: 400,
      body: problem('value', expect.stringMatching(message)),
    });
    expect(rest.asked).not.toContain('execute');
  });

  it('without any sign of a body is an empty one', async () => {
    const answer = await rest.raw(`PUT /v1/kv/a HTTP/1.1\r\n${HEAD}\r\n`);
    expect(answer).toMatchObject({ status: 400, body: problem('value', 'The body is empty.') });
    expect(await chunked('/v1/kv/a')).toMatchObject({ status: 400, body: problem('value') });
  });

  it('may come in chunks, cut within a character', async () => {
    const text = Buffer.from('["ü",1]');
    const answer = await chunked('/v1/kv/a', text.subarray(0, 3), text.subarray(3));
    expect(answer).toMatchObject({ status: 200, body: { value: ['ü', 1] } });
  });

  it('may be as long as the operation says, and no byte longer', async () => {
    expect((await call('PUT', '/v1/kv/a', textOf(KV_MAX_BYTES))).status).toBe(200);
    const tooLarge = { status: 413, body: { error: { hint: 'At most 64 KB.' } } };
    expect(await call('PUT', '/v1/kv/a', textOf(KV_MAX_BYTES + 1))).toMatchObject(tooLarge);
    const announced = `Content-Length: ${KV_MAX_BYTES + 1}\r\n\r\n1`;
    expect(await rest.raw(`PUT /v1/kv/a HTTP/1.1\r\n${HEAD}${announced}`)).toMatchObject(tooLarge);
    const chunks = Array.from({ length: 5 }, () => Buffer.alloc(KV_MAX_BYTES / 4, ' '));
    expect(await chunked('/v1/kv/a', ...chunks)).toMatchObject(tooLarge);
  });

  it('ends where its Content-Length says, whatever follows', async () => {
    const head = `PUT /v1/kv/a HTTP/1.1\r\n${HEAD}Content-Length: 1\r\n\r\n`;
    const answer = await rest.raw(`${head}1${head}2`);
    expect(answer).toMatchObject({ status: 200, body: { value: 1 } });
  });

  it('that ends before its Content-Length says is nobody’s value', async () => {
    await breakOff(`PUT /v1/kv/a HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\n1`);
    expect(rest.asked).not.toContain('execute');
    expect(rest.internal).toEqual([]);
  });

  it('that is compressed is refused', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    const answer = await call('PUT', '/v1/kv/a', new Uint8Array(gzipSync('1')), gzip);
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
    });
  });

  it('comes after the key', async () => {
    const answer = await call('PUT', '/v1/kv/a', '', { authorization: 'Bearer bad' });
    expect(answer.status).toBe(401);
    expect(rest.asked).toEqual(['authenticate']);
  });

  it.each([
    ['/v1/kv/a%2Fb', 'a/b'],
    ['/v1/kv/a/b', 'a/b'],
    ['/v1/kv//a//', '/a//'],
    ['/v1/kv/a%00b', 'a\0b'],
    ['/v1/kv/__proto__', '__proto__'],
  ])('is stored under the key of the path: %s', async (target, key) => {
    expect((await put(target, '1')).body).toEqual({ key, value: 1, version: 4 });
  });

  it.each(['/v1/kv/%ff', '/v1/kv/a%ED%A0%80'])('needs a key in UTF-8: %s', async (target) => {
    expect(await put(target, '1')).toMatchObject({ status: 400, body: problem('key') });
  });

  it('leaves the other fields to the query', async () => {
    const answer = await call('PUT', '/v1/kv/a?ttl_seconds=60&if_version=2', '1');
    expect(answer.body).toEqual({
      key: 'a',
      value: 1,
      ttl_seconds: 60,
      if_version: 2,
      version: 4,
    });
    for (const wrong of ['0', 'soon', '1.5', '']) {
      const refused = await call('PUT', `/v1/kv/a?ttl_seconds=${wrong}`, '1');
      expect(refused).toMatchObject({ status: 400, body: problem('ttl_seconds') });
    }
  });
});

describe('a body of bytes', () => {
  const hex = '00ff0d0a7b7d80';

  it.each([
    'text/plain; charset=utf-8',
    'application/json',
    'Image/PNG',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    `${UPLOAD_TYPE}2`,
  ])('is taken as it is, with its Content-Type: %s', async (type) => {
    const answer = await put('/v1/files/a/b', Buffer.from(hex, 'hex'), `Content-Type: ${type}`);
    expect(answer.body).toEqual({
      path: 'a/b',
      content_base64: { hex },
      content_type: type,
      version: 4,
    });
  });

  it.each([[[]], [['Content-Type:']]])('may have no Content-Type: %j', async (headers) => {
    const answer = await put('/v1/files/a', 'x', ...headers);
    expect(answer.body).toEqual({ path: 'a', content_base64: { hex: '78' }, version: 4 });
  });

  it('may be empty', async () => {
    const empty = { path: 'a', content_base64: { hex: '' }, version: 4 };
    expect((await put('/v1/files/a', '')).body).toEqual(empty);
    const length = 'Content-Length: 0\r\n';
    const said = await rest.raw(`PUT /v1/files/a HTTP/1.1\r\n${HEAD}${length}\r\n`);
    expect(said.body).toEqual(empty);
    expect((await chunked('/v1/files/a')).body).toEqual(empty);
  });

  it('leaves the other fields to the query, and keeps its own', async () => {
    const foreign = await put('/v1/files/a?path=b', 'x');
    expect(foreign).toMatchObject({ status: 400, body: problem('path', 'Unknown in the query.') });
    const answer = await put('/v1/files/a?bytes_total=1&if_version=0', 'x');
    expect(answer.body).toEqual({
      path: 'a',
      content_base64: { hex: '78' },
      bytes_total: 1,
      if_version: 0,
      version: 4,
    });
    const wrong = await put('/v1/files/a?bytes_total=-1', 'x');
    expect(wrong).toMatchObject({ status: 400, body: problem('bytes_total') });
  });

  it('has no Content-Type where no field wants it, and objects in the query as JSON', async () => {
    const answer = await put('/v1/notes/a?shape={"n":1}', 'x', `Content-Type: ${UPLOAD_TYPE}`);
    expect(answer.body).toEqual({ id: 'a', note: { hex: '78' }, shape: { n: 1 }, version: 4 });
    const broken = await put('/v1/notes/a?shape={"n":', 'x');
    expect(broken).toMatchObject({ status: 400, body: problem('shape') });
  });

  it('has its Content-Type checked as the field', async () => {
    const long = await put('/v1/files/a', 'x', `Content-Type: ${'x'.repeat(101)}`);
    expect(long).toMatchObject({ status: 400, body: problem('content_type') });
  });

  it('may be as long as the operation says, and no byte longer', async () => {
    const whole = await call('PUT', '/v1/files/a', new Uint8Array(FILE_MAX_BYTES));
    expect(whole.status).toBe(200);
    const more = await call('PUT', '/v1/files/a', new Uint8Array(FILE_MAX_BYTES + 1));
    expect(more).toMatchObject({ status: 413, body: { error: { hint: 'At most 256 KB.' } } });
    const chunks = Array.from({ length: 5 }, () => Buffer.alloc(FILE_MAX_BYTES / 4));
    expect((await chunked('/v1/files/a', ...chunks)).status).toBe(413);
  });

  it('that was cut off is no file', async () => {
    await breakOff(`PUT /v1/files/a HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\nx`);
    await breakOff(`PUT /v1/files/a HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nx`);
    expect(rest.asked).not.toContain('execute');
    expect(rest.internal).toEqual([]);
  });

  it('that is compressed is refused', async () => {
    const answer = await call('PUT', '/v1/files/a', 'x', { 'content-encoding': 'br' });
    expect(answer.status).toBe(415);
  });
});

describe('a body of fields where bytes are the rule', () => {
  it.each([UPLOAD_TYPE, `${UPLOAD_TYPE.toUpperCase()} ; charset=utf-8`])(
    'is known by its type: %s',
    async (type) => {
      const fields = '{"bytes_total":9,"content_type":"text/plain","path":"b"}';
      const answer = await put('/v1/files/a%2Fb', fields, `Content-Type: ${type}`);
      expect(answer.body).toEqual({
        path: 'a/b',
        bytes_total: 9,
        content_type: 'text/plain',
        version: 4,
      });
    },
  );

  it.each(['', '[]', 'null', '1', '{', '{"bytes_total":1e999}'])(
    'is a JSON object: %j is not',
    async (text) => {
      const answer = await call('PUT', '/v1/files/a', text, UPLOAD);
      expect(answer).toMatchObject({ status: 400, body: problem('') });
      expect(JSON.stringify(answer.body)).toContain('The body must be a JSON object.');
    },
  );

  it('names unknown fields, also those a prototype has', async () => {
    const answer = await call('PUT', '/v1/files/a', '{"__proto__":{"x":1},"x":1}', UPLOAD);
    expect(answer.body).toMatchObject({
      error: { details: { fields: [{ path: '__proto__' }, { path: 'x' }] } },
    });
  });

  it('may not be as long as bytes may', async () => {
    const frame = '{"content_base64":""}';
    const body = (bytes: number): string =>
      frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
    expect((await call('PUT', '/v1/files/a', body(FIELDS_MAX_BYTES), UPLOAD)).status).toBe(200);
    const more = await call('PUT', '/v1/files/a', body(FIELDS_MAX_BYTES + 1), UPLOAD);
    expect(more).toMatchObject({ status: 413, body: { error: { hint: 'At most 128 KB.' } } });
  });

  it('goes with a query, but says nothing twice', async () => {
    const apart = await call('PUT', '/v1/files/a?if_version=2', '{"bytes_total":1}', UPLOAD);
    expect(apart.body).toEqual({ path: 'a', bytes_total: 1, if_version: 2, version: 4 });
    const twice = await call('PUT', '/v1/files/a?if_version=2', '{"if_version":3}', UPLOAD);
    expect(twice).toMatchObject({ status: 400, body: problem('if_version') });
  });
});
