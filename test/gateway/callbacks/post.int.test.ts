import { afterEach, describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import {
  CallbackSender,
  parseRetryAfter,
  type PostResult,
  type SenderOptions,
} from '../../../gateway/callbacks/post.ts';
import { httpReceiver, rawReceiver, type Receiver } from './receiver.ts';

const CLOSED = 'The connection closed before an answer came.';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function sending(options: SenderOptions = {}): CallbackSender {
  const sender = new CallbackSender({ allow: CallbackAllow.parse('127.0.0.0/8'), ...options });
  ends.push(() => sender.close());
  return sender;
}

async function answering(...args: Parameters<typeof httpReceiver>): Promise<Receiver> {
  const receiver = await httpReceiver(...args);
  ends.push(() => receiver.close());
  return receiver;
}

async function serving(...args: Parameters<typeof rawReceiver>): Promise<Receiver> {
  const receiver = await rawReceiver(...args);
  ends.push(() => receiver.close());
  return receiver;
}

/** Bytes as they are, once a request has come. */
const saying = (text: string) => serving((socket) => socket.once('data', () => socket.write(text)));

/** A byte at a time, for as long as anybody listens. */
function trickling(head: string, bytes: string): Promise<Receiver> {
  return serving((socket) => {
    socket.once('data', () => {
      socket.write(head);
      const timer = setInterval(() => socket.write(bytes), 20);
      socket.on('close', () => clearInterval(timer));
    });
  });
}

function post(sender: CallbackSender, url: string, deadlineMs = 100_000): Promise<PostResult> {
  return sender.post({ url, body: '{"a":1}', headers: { 'x-test': 'yes' }, deadlineMs });
}

const ok = (): Promise<Receiver> => answering((response) => response.end('thanks'));

describe('a callback', () => {
  it('arrives as it was signed, with its headers', async () => {
    const receiver = await ok();
    const sender = sending();
    const body = '{"text":"Grüße, \\u0000 \u{1f4ec}"}';
    for (const sent of [body, Buffer.from(body)]) {
      const headers = { 'Content-Type': 'application/json', 'webhook-id': 'evt_1' };
      const result = await sender.post({ url: `${receiver.url}?a=b%20c`, body: sent, headers });
      expect(result).toEqual({
        kind: 'answered',
        status: 200,
        retryAfterSeconds: null,
        response: 'thanks',
        durationMs: expect.any(Number) as number,
      });
    }
    const expected = {
      path: '/hook?a=b%20c',
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'content-length': String(Buffer.byteLength(body)),
        host: `127.0.0.1:${receiver.port}`,
        connection: 'keep-alive',
      },
    };
    expect(receiver.received).toEqual([expected, expected]);
  });

  it('names no host but that of its URL, and its own length', async () => {
    const receiver = await ok();
    const headers = { Host: 'other.example.com', 'Content-Length': '1' };
    await sending().post({ url: receiver.url, body: 'four', headers });
    expect(receiver.received[0]).toMatchObject({
      body: 'four',
      headers: { host: `127.0.0.1:${receiver.port}` },
    });
  });

  it('with a header that cannot be sent is a fault of this side', async () => {
    const call = { url: (await ok()).url, body: '', headers: { 'x-a': 'a\r\nx-b: b' } };
    await expect(sending().post(call)).rejects.toThrow('Invalid character in header');
  });
});

describe('an answer', () => {
  it.each([200, 201, 204, 400, 404, 410, 429, 500, 503])('of %i is told', async (status) => {
    const { url } = await answering((response) => response.writeHead(status).end());
    expect(await post(sending(), url)).toMatchObject({ kind: 'answered', status, response: '' });
  });

  it.each([301, 302, 303, 307, 308])('of %i leads nowhere', async (status) => {
    const other = await ok();
    const receiver = await answering((response) => {
      response.writeHead(status, { Location: other.url }).end();
    });
    expect(await post(sending(), receiver.url)).toMatchObject({ kind: 'answered', status });
    expect(receiver.received).toHaveLength(1);
    expect(other.sockets).toHaveLength(0);
  });

  it('tells when to come again', async () => {
    const { url } = await answering((response) => {
      response.writeHead(503, { 'Retry-After': '120' }).end();
    });
    const result = await post(sending(), url);
    expect(result).toMatchObject({ status: 503, retryAfterSeconds: 120 });
  });

  it.each([
    ['ASCII', Buffer.alloc(5000, 'x'), 'x'.repeat(1024)],
    ['characters of two bytes', Buffer.from(`a${'ü'.repeat(2000)}`), `a${'ü'.repeat(511)}`],
    [
      'characters of four',
      Buffer.from(`abc${'\u{1f4ec}'.repeat(600)}`),
      `abc${'\u{1f4ec}'.repeat(255)}`,
    ],
    ['bytes that are no text', Buffer.alloc(5000, 0xff), '\ufffd'.repeat(341)],
    ['a few bytes that are no text', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
  ])('is kept for its first KB: %s', async (_what, body, kept) => {
    const { url } = await answering((response) => response.end(body));
    const result = await post(sending(), url);
    expect(result).toMatchObject({ kind: 'answered', response: kept });
    expect(kept.isWellFormed()).toBe(true);
  });

  it('of 64 KB is read whole, so that the connection serves again', async () => {
    const receiver = await answering((response) => response.end(Buffer.alloc(64 * 1024, 'x')));
    const sender = sending();
    for (let turn = 0; turn < 3; turn += 1) await post(sender, receiver.url);
    expect(receiver.sockets).toHaveLength(1);
  });

  it('without end is cut off: the status is there', async () => {
    const receiver = await answering((response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
      };
      response.on('drain', more);
      more();
    });
    const result = await post(sending(), receiver.url);
    expect(result).toMatchObject({ kind: 'answered', status: 200, response: 'x'.repeat(1024) });
    await expect.poll(() => receiver.open()).toBe(0);
    // What the two sockets hold comes on top.
    expect(receiver.sockets[0]?.bytesWritten).toBeLessThan(16 * 1024 * 1024);
  });

  it('that comes before the callback was read leaves no connection behind', async () => {
    const receiver = await serving((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
      });
    });
    const sender = sending({ socketsPerDestination: 1 });
    const call = { url: receiver.url, body: Buffer.alloc(20_000_000), headers: {} };
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await sender.post(call)).toMatchObject({ kind: 'answered', status: 413 });
    }
  });

  it('that breaks off is one', async () => {
    const text = 'HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nhalf';
    const { url } = await serving((socket) => socket.once('data', () => socket.end(text)));
    const result = await post(sending(), url);
    expect(result).toMatchObject({ kind: 'answered', status: 500, response: 'half' });
  });
});

describe('no answer', () => {
  it.each([
    ['a connection that closes', (text: string) => text.slice(0, 0), CLOSED],
    ['half a head', (text: string) => text.slice(0, 20), CLOSED],
    ['something else than HTTP', () => 'SSH-2.0-OpenSSH_9.2\r\n', /^The answer is not HTTP \(HPE_/],
    ['a head of a megabyte', () => `HTTP/1.1 200 OK\r\na: ${'b'.repeat(1e6)}`, /\(HPE_HEADER/],
    [
      'two lengths',
      () => 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      /\(HPE_/,
    ],
    [
      'another protocol',
      () => 'HTTP/1.1 101 Switching\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n',
      CLOSED,
    ],
  ])('%s', async (_what, answer, reason) => {
    const text = answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    const receiver = await serving((socket) => socket.once('data', () => socket.end(text)));
    const result = await post(sending(), receiver.url);
    expect(result).toMatchObject({ kind: 'failed', guard: false });
    expect(result.kind === 'failed' && result.reason).toMatch(reason);
    expect(receiver.sockets).toHaveLength(1);
    await expect.poll(() => receiver.open()).toBe(0);
  });

  it('a port where nobody listens', async () => {
    const receiver = await ok();
    await receiver.close();
    expect(await post(sending(), receiver.url)).toMatchObject({
      kind: 'failed',
      reason: 'The connection was refused.',
      guard: false,
    });
  });

  it('a name that has no address, or a resolver that is silent', async () => {
    const gone = Object.assign(new Error('queryA'), { code: 'ENOTFOUND' });
    const unknown = sending({ resolve: () => Promise.reject(gone) });
    const reason = 'The host has no address.';
    const url = 'https://gone.example.com/';
    expect(await post(unknown, url)).toMatchObject({ kind: 'failed', reason, guard: false });
    const silent = sending({ resolve: () => new Promise(() => undefined) });
    const late = await post(silent, url, 200);
    expect(late).toMatchObject({ kind: 'failed', reason: 'No answer came within 0.2 s.' });
  });
});

describe('a slow receiver', () => {
  /** Nobody here ever comes to an end by itself. */
  const DEADLINE_MS = 1000;

  it.each([
    ['that never answers has one deadline', () => serving(() => undefined)],
    ['gains no time by a byte at a time', () => trickling('HTTP/1.1 200 OK\r\nx-a: ', 'x')],
    [
      'gains no time by one interim answer after the other',
      () => trickling('', 'HTTP/1.1 102 Processing\r\n\r\n'),
    ],
  ])('%s', async (_what, begin) => {
    const receiver = await begin();
    const result = await post(sending(), receiver.url, DEADLINE_MS);
    expect(result).toMatchObject({
      kind: 'failed',
      reason: 'No answer came within 1 s.',
      guard: false,
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5);
    await expect.poll(() => receiver.open()).toBe(0);
  });

  it('whose status came has answered, and its body ends at the deadline', async () => {
    const receiver = await trickling('HTTP/1.1 202 OK\r\nContent-Length: 1000\r\n\r\n', 'x');
    const result = await post(sending(), receiver.url, DEADLINE_MS);
    expect(result).toMatchObject({ kind: 'answered', status: 202 });
    expect(result.kind === 'answered' && result.response).toMatch(/^x{2,60}$/);
    await expect.poll(() => receiver.open()).toBe(0);
  });

  it('does not hold others, and no more connections than a destination may have', async () => {
    const slow = await serving(() => undefined);
    const healthy = await ok();
    const sender = sending({ socketsPerDestination: 4 });
    const waiting = Array.from({ length: 20 }, () => post(sender, slow.url, 2000));
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await post(sender, healthy.url)).toMatchObject({ kind: 'answered' });
    }
    // All that while nothing has become of the slow ones.
    expect([slow.open(), slow.sockets.length]).toEqual([4, 4]);
    // Those that never had a connection end in time, too.
    const results = await Promise.all(waiting);
    const reasons = results.map((result) => (result.kind === 'failed' ? result.reason : ''));
    expect(reasons.slice(0, 4)).toEqual(
      Array.from({ length: 4 }, () => 'No answer came within 2 s.'),
    );
    expect(reasons.at(-1)).toBe('It was not sent: too many requests to this host at once.');
    await expect.poll(() => slow.open()).toBe(0);
  });
});

describe('stopping', () => {
  it('ends what is under way, what waits for a connection and what comes later', async () => {
    const slow = await serving(() => undefined);
    const sender = sending({ socketsPerDestination: 1 });
    const waiting = [post(sender, slow.url, 600_000), post(sender, slow.url, 600_000)];
    await expect.poll(() => slow.open()).toBe(1);
    sender.close();
    for (const result of [...(await Promise.all(waiting)), await post(sender, slow.url)]) {
      expect(result).toMatchObject({
        kind: 'failed',
        reason: 'The service stopped.',
        guard: false,
      });
    }
    await expect.poll(() => slow.open()).toBe(0);
    expect(slow.sockets).toHaveLength(1);
  });

  it('opens no connection for what has not begun', async () => {
    const receiver = await ok();
    const sender = sending();
    const result = post(sender, receiver.url);
    sender.close();
    expect(await result).toMatchObject({ kind: 'failed', reason: 'The service stopped.' });
    expect(receiver.sockets).toHaveLength(0);
  });

  it('closes the connections that were kept', async () => {
    const receiver = await ok();
    const sender = sending();
    await post(sender, receiver.url);
    expect(receiver.open()).toBe(1);
    sender.close();
    await expect.poll(() => receiver.open()).toBe(0);
  });
});

describe('Retry-After', () => {
  const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 0);

  it.each([
    [undefined, null],
    ['0', 0],
    ['120', 120],
    ['86400', 86_400],
    ['86401', 86_400],
    ['999999999999999', 86_400],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['Fri, 01 Jan 2027 12:00:00 GMT', 86_400],
    ['', null],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['0x10', null],
    ['1234567890123456', null],
    ['soon', null],
    ['2026-01-01T12:00:30Z', null],
    ['Thu, 01 Jan 2026 12:00:30', null],
    ['Thu, 41 Foo 2026 12:00:30 GMT', null],
  ])('%j is %j', (text, seconds) => {
    expect(parseRetryAfter(text, NOW_MS)).toBe(seconds);
  });

  it('is counted from the clock of the service', async () => {
    const { url } = await answering((response) => {
      response.writeHead(429, { 'Retry-After': 'Thu, 01 Jan 2026 12:01:00 GMT' }).end();
    });
    const clock = { now: () => NOW_MS };
    expect(await post(sending({ clock }), url)).toMatchObject({ retryAfterSeconds: 60 });
  });
});

it('text that is no HTTP comes too late for a post that is over', async () => {
  const receiver = await saying('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\ngarbage');
  const sender = sending();
  expect(await post(sender, receiver.url)).toMatchObject({ kind: 'answered', status: 200 });
  expect(await post(sender, receiver.url)).toMatchObject({ kind: 'answered', status: 200 });
});
