import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { rawRequest } from '../../helpers/raw-http.ts';

const MIB = 1024 * 1024;
const LIMIT = 5 * MIB;
const TYPE = 'Content-Type: application/octet-stream';

let gateway: TestGateway;
let url: string;
beforeAll(async () => {
  gateway = await TestGateway.start();
  url = await gateway.addSource({ name: 'open' });
});
afterAll(() => gateway.stop());

function* pieces(total: number, size = 64 * 1024): Generator<Uint8Array> {
  for (let sent = 0; sent < total; sent += size) yield new Uint8Array(Math.min(size, total - sent));
}

function* chunked(total: number): Generator<Uint8Array> {
  for (const piece of pieces(total)) {
    yield Buffer.concat([
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from('\r\n'),
    ]);
  }
  yield Buffer.from('0\r\n\r\n');
}

async function eventCount(): Promise<number> {
  const path = '/v1/ledger?op=event.received&limit=500';
  const { body } = await gateway.call<{ items: unknown[] }>('GET', path);
  return body.items.length;
}

describe('a body over the limit', () => {
  it('is refused by its declared length before any of it is sent', async () => {
    const answer = await rawRequest(url, [
      'POST {path} HTTP/1.1',
      TYPE,
      `Content-Length: ${LIMIT + 1}`,
    ]);
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('PAYLOAD_TOO_LARGE');
    expect(answer.text.toLowerCase()).toContain('connection: close');
    expect(answer.sent).toBe(0);
  });

  it('is refused in passing when it has no length', async () => {
    const before = await eventCount();
    const head = ['POST {path} HTTP/1.1', TYPE, 'Transfer-Encoding: chunked'];
    // A sender that goes on may find the connection reset before it has read the answer: then it asks again.
    let answer = await rawRequest(url, head, chunked(40 * MIB));
    for (let n = 0; n < 5 && answer.status === 0; n += 1) {
      answer = await rawRequest(url, head, chunked(40 * MIB));
    }
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('PAYLOAD_TOO_LARGE');
    // Refused as soon as the limit was passed: far from all of it was taken.
    expect(answer.sent).toBeLessThan(20 * MIB);
    expect(await eventCount()).toBe(before);
  });

  it('is taken when it is exactly the limit, by length and in chunks', async () => {
    const exact = new Uint8Array(LIMIT).fill(1);
    expect((await gateway.deliver(url, exact, { 'webhook-id': 'exact' })).status).toBe(200);
    const head = ['POST {path} HTTP/1.1', TYPE, 'Transfer-Encoding: chunked', 'Webhook-Id: chunks'];
    expect((await rawRequest(url, head, chunked(LIMIT))).status).toBe(200);
    const over = new Uint8Array(LIMIT + 1);
    const answer = await gateway.deliver(url, over, {}).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
  });

  it('is whole when it comes in chunks of one byte', async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => String(n % 10)).join('');
    const head = ['POST {path} HTTP/1.1', 'Content-Type: text/plain', 'Transfer-Encoding: chunked'];
    const chunks = `${text.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`;
    const answer = await rawRequest(url, head, [Buffer.from(chunks)]);
    expect(answer.status).toBe(200);
    const event_id = /"event_id":"(\w+)"/.exec(answer.text)?.[1];
    const claimed = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
    expect(claimed.body).toMatchObject({ payload: { text } });
  });

  it('keeps memory flat when many come at once', async () => {
    const head = ['POST {path} HTTP/1.1', TYPE, 'Transfer-Encoding: chunked'];
    const before = process.memoryUsage().rss;
    let highest = before;
    const timer = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 5);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rawRequest(url, head, chunked(60 * MIB))),
    );
    clearInterval(timer);
    // Refused, or cut off before the answer was read; none was taken.
    expect(answers.filter(({ status }) => status !== 413 && status !== 0)).toEqual([]);
    expect(Math.max(...answers.map(({ sent }) => sent))).toBeLessThan(30 * MIB);
    // 480 MB were on offer. What is kept is at most the limit of each, twice over for the sender here.
    expect(highest - before).toBeLessThan(8 * LIMIT * 4);
  });
});

describe('the result of an ack', () => {
  const event_id = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

  it.each<[string, unknown]>([
    ['a long text', 'x'.repeat(4095)],
    ['60,000 numbers', Array.from({ length: 60_000 }, () => 1)],
    ['characters of two bytes', 'é'.repeat(2048)],
  ])('over 4 KB is refused by its name: %s', async (_what, result) => {
    const answer = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id, result } });
    expect(answer.status).toBe(400);
    const fields = [{ path: 'result', message: 'At most 4 KB serialized.' }];
    expect(answer.body).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fields } },
    });
  });

  it.each([[null], [false], [{ a: [1, 'x'] }], ['x'.repeat(4094)]])(
    'of at most 4 KB may be any JSON: %j',
    async (result) => {
      const answer = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id, result } });
      expect(answer.body).toMatchObject({ error: { code: 'NOT_FOUND' } });
    },
  );
});

describe('a length that lies', () => {
  it('too short: what follows the body is no part of it', async () => {
    const head = ['POST {path} HTTP/1.1', 'Content-Type: text/plain', 'Content-Length: 5'];
    const body = Buffer.from('hello, and more than was said');
    const answer = await rawRequest(url, head, [body]);
    // The rest is no request: the connection ends there. What the length named may have been taken, and nothing more.
    expect([200, 400]).toContain(answer.status);
    const list = await gateway.call<{ items: { payload: unknown }[] }>(
      'GET',
      '/v1/inbox?limit=100',
    );
    const texts = list.body.items.map(({ payload }) => JSON.stringify(payload));
    expect(texts.filter((text) => text.includes('more than'))).toEqual([]);
    expect(texts.filter((text) => text.includes('hello')).length).toBeLessThanOrEqual(1);
  });

  it('too long: a sender that goes away leaves nothing', async () => {
    const socketHead = ['POST {path} HTTP/1.1', TYPE, 'Content-Length: 1000000'];
    const { port, pathname, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `${socketHead.join('\r\n').replace('{path}', pathname)}\r\nHost: x\r\n\r\nonly this`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    const other = await gateway.deliver(url, 'after', { 'content-type': 'text/plain' });
    expect(other.status).toBe(200);
    const list = await gateway.call<{ items: { payload: unknown }[] }>(
      'GET',
      '/v1/inbox?limit=100',
    );
    const texts = list.body.items.map(({ payload }) => JSON.stringify(payload));
    expect(texts.filter((text) => text.includes('after'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes('only this'))).toEqual([]);
  });

  it.each([
    ['both framings', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 6']],
    ['a negative length', ['Content-Length: -1']],
    ['no number', ['Content-Length: five']],
  ])('is refused when it is ambiguous: %s', async (_name, headers) => {
    const before = await eventCount();
    const head = ['POST {path} HTTP/1.1', TYPE, ...headers];
    const answer = await rawRequest(url, head, [Buffer.from('0\r\n\r\nhello')]);
    expect(answer.status).toBe(400);
    expect(await eventCount()).toBe(before);
  });
});

describe('another method', () => {
  it.each(['PUT', 'DELETE', 'PATCH'])('%s is not allowed', async (method) => {
    const response = await fetch(url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect(await response.text()).toContain('METHOD_NOT_ALLOWED');
  });
});

/** The body of the 404. */
const refused = async (target: string): Promise<unknown> => {
  const answer = await gateway.deliver(target, '{}', { 'content-type': 'application/json' });
  expect(answer.status).toBe(404);
  return answer.body;
};

describe('a token', () => {
  it('that is unknown, malformed or of no project gets the same answer with no detail', async () => {
    const token = url.split('/').at(-1) ?? '';
    const answers = [
      await refused(`${gateway.url}/w/${token.slice(0, 16)}${'A'.repeat(24)}`),
      await refused(`${gateway.url}/w/${'0'.repeat(16)}${'A'.repeat(24)}`),
      await refused(`${gateway.url}/w/x`),
      await refused(`${gateway.url}/w/${token}x`),
      await refused(`${gateway.url}/w/${token.slice(0, -1)}`),
      await refused(`${gateway.url}/w/%00%ff`),
    ];
    for (const answer of answers) {
      expect(answer).toEqual({ error: { code: 'NOT_FOUND', message: 'Not found.', hint: null } });
    }
  });

  it('stops at once when its source is removed, though it was in use', async () => {
    const added = await gateway.addSource({ name: 'short-lived' });
    expect((await gateway.deliver(added, 'one', {})).status).toBe(200);
    await gateway.call('DELETE', '/v1/sources/short-lived');
    expect(await refused(added)).toEqual({
      error: { code: 'NOT_FOUND', message: 'Not found.', hint: null },
    });
    const again = await gateway.addSource({ name: 'short-lived' });
    expect(again).not.toBe(added);
    await refused(added);
  });

  it('stops also for deliveries that were under way when its source was removed', async () => {
    const added = await gateway.addSource({ name: 'racing' });
    const deliveries = Array.from({ length: 20 }, (_, n) =>
      gateway.deliver(added, `race ${n}`, {}),
    );
    const removed = await gateway.call('DELETE', '/v1/sources/racing');
    expect(removed.status).toBe(200);
    const during = await Promise.all(deliveries);
    expect(during.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
    await refused(added);
  });
});
