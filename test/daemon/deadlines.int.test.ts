import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Listener, type Backend } from '../../daemon/listener.ts';
import type { ReceiveLimits } from '../../shared/http/deadlines.ts';
import { Admission } from '../../shared/admission/admission.ts';

/** For clients that go on for longer than that, or never end: each is to be cut off. */
const SHORT = { headersMs: 300, bodyMs: 600, keepAliveMs: 300 };
/** For clients that are to be served, on a machine that may stand still for a while. */
const LONG = { headersMs: 60_000, bodyMs: 60_000, keepAliveMs: 60_000 };
/** How many requests were begun. */
let begun: number;
const backend: Backend = {
  admission: Admission.local(),
  control: () => false,
  fetch: async (incoming) => {
    begun += 1;
    if (incoming.method !== 'GET') return new Response(`got ${(await incoming.text()).length}`);
    const waitMs = Number(new URL(incoming.url).searchParams.get('wait'));
    await sleep(waitMs, undefined, { ref: false });
    return new Response(`waited ${waitMs}`);
  },
};
let listener: Listener;
let socket: Socket;
/** A moment before the connection was made: its times count from where the server takes it. */
let opened: number;

async function open(limits: ReceiveLimits): Promise<void> {
  listener = await Listener.onLoopback(0, backend, limits);
  begun = 0;
  opened = performance.now();
  socket = connect(listener.port, '127.0.0.1');
  await once(socket, 'connect');
}
afterEach(async () => {
  socket.destroy();
  await listener.close(100);
});

const head = (line: string): string => `${line} HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\n`;

function received(): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString()));
  });
}

/** Sends a text one byte at a time and returns all that came back until the connection closed. */
async function trickle(slow: string): Promise<string> {
  // Kept as it comes: a byte that meets a closed door resets the connection, and what was read by then still counts.
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  for (const byte of slow) {
    if (socket.destroyed || socket.readableEnded) break;
    socket.write(byte);
    await sleep(20);
  }
  await closed;
  return answer;
}

/** The head of a PUT of 1000 bytes. */
const put = (path: string): string => `${head(`PUT ${path}`)}Content-Length: 1000\r\n\r\n`;

describe('slow clients', () => {
  beforeEach(() => open(SHORT));

  it('are cut off while they trickle headers', async () => {
    expect(await trickle(head('GET /').repeat(5))).toContain('HTTP/1.1 408 ');
    expect(performance.now() - opened).toBeGreaterThan(SHORT.headersMs - 20);
  });

  it('are cut off when they send nothing at all', async () => {
    expect(await trickle('')).toContain('408');
  });

  it('are cut off while they trickle a body', async () => {
    socket.write(`${head('POST /')}Content-Length: 1000\r\n\r\n`);
    expect(await trickle('x'.repeat(1000))).toContain('HTTP/1.1 408 ');
    expect(performance.now() - opened).toBeGreaterThan(SHORT.bodyMs - 20);
  });

  it('are cut off when the second request on a connection is the slow one', async () => {
    socket.write(`${head('GET /?wait=1')}\r\n`);
    await once(socket, 'data');
    // Ends only because the connection does: no head of these is ever whole.
    await trickle(head('GET /').repeat(5));
    expect(begun).toBe(1);
  });

  it('are cut off when they stay silent after an answer', async () => {
    socket.write(`${head('POST /')}Content-Length: 3\r\n\r\nabc`);
    expect(await received()).toContain('got 3');
    await once(socket, 'close');
  });

  it('are cut off when an upload stops', async () => {
    socket.write(put('/u/token0123'));
    expect(await trickle('x'.repeat(10))).toContain('HTTP/1.1 408 ');
    expect(performance.now() - opened).toBeGreaterThan(SHORT.bodyMs);
  });

  it.each(['/u/../v1/kv', '/u/a/b', '/u/', '/v1/files/u/a'])(
    'get no time of an upload at %s',
    async (path) => {
      socket.write(put(path));
      expect(await trickle('x'.repeat(1000))).toContain('HTTP/1.1 408 ');
    },
  );
});

describe('patient clients', () => {
  it('may take their time over an upload while it comes', async () => {
    // Each pause is a quarter of what is allowed, and they are longer together.
    const limits = { ...LONG, bodyMs: 4000 };
    await open(limits);
    socket.write(put('/u/token0123?x'));
    const answer = received();
    const pieces = 5;
    for (let piece = 0; piece < pieces; piece += 1) {
      await sleep(limits.bodyMs / 4);
      socket.write('x'.repeat(1000 / pieces));
    }
    expect(await answer).toContain('got 1000');
  });

  it('get an answer that takes longer than any limit on receiving', async () => {
    await open({ headersMs: 1500, bodyMs: 1500, keepAliveMs: 1500 });
    socket.write(`${head('GET /?wait=3500')}\r\n`);
    expect(await received()).toContain('waited 3500');
  });

  it('keep their connection for the next request', async () => {
    await open(LONG);
    for (let round = 0; round < 3; round += 1) {
      socket.write(`${head('POST /')}Content-Length: 3\r\n\r\nabc`);
      expect(await received()).toContain('got 3');
    }
    expect(socket.destroyed).toBe(false);
  });
});

describe('closing', () => {
  beforeEach(() => open(LONG));

  it('waits for an answer under way and refuses new connections', async () => {
    socket.write(`${head('GET /?wait=400')}\r\n`);
    await expect.poll(() => begun).toBe(1);
    const answer = received();
    const closing = listener.close(600_000);
    const late = connect(listener.port, '127.0.0.1');
    await expect(once(late, 'connect')).rejects.toThrow('ECONNREFUSED');
    expect(await answer).toContain('waited 400');
    // Long before it would cut anybody off.
    await closing;
  });

  it('cuts off what takes too long', async () => {
    socket.on('error', () => undefined);
    socket.write(`${head('GET /?wait=600000')}\r\n`);
    await expect.poll(() => begun).toBe(1);
    const closed = once(socket, 'close');
    await listener.close(200);
    await closed;
  });
});
