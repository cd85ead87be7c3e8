import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

interface Event {
  readonly id: string;
  readonly payload: unknown;
  readonly payload_url: string | null;
  readonly headers: Record<string, string>;
  readonly error?: unknown;
}

const MIB = 1024 * 1024;
let gateway: TestGateway;
let url: string;
beforeAll(async () => {
  gateway = await TestGateway.start({ checkAnswers: false });
  url = await gateway.addSource({ name: 'open' });
});
afterAll(() => gateway.stop());

/** In, listed, claimed and acked: what a claim gave. */
async function roundTrip(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<Event> {
  const delivered = await gateway.deliver(url, body, headers);
  expect(delivered).toMatchObject({ status: 200, body: { status: 'accepted' } });
  const event_id = String(delivered.body['event_id']);
  const list = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?limit=100');
  expect(list.status).toBe(200);
  expect(list.body.items.map(({ id }) => id)).toContain(event_id);
  const claimed = await gateway.call<Event>('POST', '/v1/inbox/claim', { body: { event_id } });
  expect(claimed.status).toBe(200);
  const acked = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } });
  expect(acked).toMatchObject({ status: 200, body: { status: 'done' } });
  return claimed.body;
}

const json = { 'content-type': 'application/json' };
const plain = { 'content-type': 'text/plain' };
const bytes = (...values: number[]) => Uint8Array.from(values);

describe('a body', () => {
  it('that is compressed is refused with UNSUPPORTED_MEDIA_TYPE, whatever is in it', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MIB));
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity', 'x-unknown']) {
      const answer = await gateway.deliver(url, new Uint8Array(bomb), {
        ...json,
        'content-encoding': encoding,
      });
      expect(answer.status).toBe(415);
      expect(answer.body).toMatchObject({ error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    }
    const identity = { ...plain, 'content-encoding': 'identity' };
    expect((await roundTrip('as it is', identity)).payload).toEqual({ text: 'as it is' });
  });
});

describe('stored headers', () => {
  it('hold no credentials and no signatures, and no prototype', async () => {
    const secrets = {
      authorization: 'Bearer hunter2',
      cookie: 'session=hunter2',
      'proxy-authorization': 'Basic hunter2',
      'x-api-key': 'hunter2',
      'x-gitlab-token': 'hunter2',
      'x-hub-signature': 'sha1=hunter2',
      'stripe-signature': 't=1,v1=hunter2',
      'x-custom-secret': 'hunter2',
    };
    const kept = { 'x-github-event': 'push', 'user-agent': 'sender/1', __proto__x: 'p' };
    const event = await roundTrip('headers', { ...plain, ...secrets, ...kept, constructor: 'c' });
    expect(JSON.stringify(event.headers)).not.toContain('hunter2');
    expect(event.headers).toMatchObject({
      ...kept,
      constructor: 'c',
      'content-type': 'text/plain',
    });
    expect(Object.keys(event.headers).filter((name) => name !== name.toLowerCase())).toEqual([]);
  });
});

const array = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('a hostile body', () => {
  const hostile: [string, () => string | Uint8Array<ArrayBuffer>][] = [
    ['128 levels', () => array(128)],
    ['129 levels', () => array(129)],
    ['100,000 levels', () => array(100_000)],
    ['5 MB of [', () => '['.repeat(5 * MIB)],
    ['5 MB of {"a":', () => '{"a":'.repeat(MIB)],
    ['objects 20,000 deep', () => `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    [
      '__proto__',
      () => '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}}}',
    ],
    ['duplicate keys', () => '{"a":1,"a":2,"a":3}'],
    ['NUL in a string', () => '{"a":"x\\u0000y","b\\u0000":1}'],
    ['NUL in the text', () => '{"a":"x\0y"}'],
    ['lone surrogates', () => '{"a":"\\ud800","b":"\\udfff\\ud800x"}'],
    ['a surrogate as bytes', () => bytes(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['1e999', () => '{"a":1e999,"b":-1e999}'],
    ['a number of 100,000 digits', () => `{"a":${'9'.repeat(100_000)}}`],
    ['integers beyond 2^53', () => '{"a":9007199254740993,"b":-0,"c":1e-400}'],
    ['4 MB of numbers', () => `[${'1e9,'.repeat(MIB)}1]`],
    ['5 MB of empty objects', () => `[${'{},'.repeat(1_600_000)}{}]`],
    [
      'a million members',
      () => `{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":1`).join()}}`,
    ],
    ['600,000 short strings', () => `[${'"abcde",'.repeat(600_000)}1]`],
    ['2.6 million small numbers', () => `[${'1,'.repeat(2_600_000)}1]`],
    [
      '300,000 names like integers',
      () => `{${Array.from({ length: 300_000 }, (_, n) => `"${n * 7919}":1`).join()}}`,
    ],
    ['5 MB of escapes', () => `"${'\\u0041'.repeat(850_000)}"`],
    ['a byte order mark', () => '\ufeff{"a":1}'],
    ['5 MB of NUL', () => new Uint8Array(5 * MIB)],
  ];

  it.each(hostile)('of %s goes in, is listed, claimed and acked', async (_name, make) => {
    const body = make();
    const event = await roundTrip(body, json);
    // Whatever was understood can be written as JSON again, and nothing leaked into a prototype.
    const text = JSON.stringify(event);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    if (event.payload_url === null) return;
    const linked = new Uint8Array(await (await fetch(event.payload_url)).arrayBuffer());
    expect(Buffer.compare(linked, Buffer.from(body as string))).toBe(0);
  });

  it('keeps NUL, surrogates and __proto__ as they were', async () => {
    const text = '{"__proto__":{"x":1},"nul":"a\\u0000b","lone":"\\ud800","again":1,"again":2}';
    const event = await roundTrip(text, json);
    expect(event.payload).toEqual(JSON.parse(text));
    expect(Object.keys(event.payload as object)).toContain('__proto__');
  });
});
