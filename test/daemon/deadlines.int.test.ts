import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Listener, type Backend } from '../../daemon/listener.ts';

const LIMITS = { headersMs: 300, bodyMs: 600, keepAliveMs: 300 };
/** How many requests were begun. */
let begun: number;
const backend: Backend = {
  control: () => false,
  fetch: async (incoming) => {
    begun += 1;
    if (incoming.method !== 'GET') return new Response(`got ${(await incoming.text()).length}`);
    const waitMs = Number(new URL(incoming.url).searchParams.get('wait'));
    await sleep(waitMs);
    return new Response(`waited ${waitMs}`);
  },
};
let listener: Listener;
let socket: Socket;
/** A moment before the connection was made: its times count from where the server takes it. */
let opened: number;

beforeEach(async () => {
  listener = await Listener.onLoopback(0, backend, LIMITS);
  begun = 0;
  opened = performance.now();
  socket = connect(listener.port, '127.0.0.1');
  await once(socket, 'connect');
});
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

/** Sends a text one byte at a time and returns all that came back and how long the connection lived. */
async function trickle(slow: string): Promise<{ answer: string; ms: number }> {
  const started = performance.now();
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
  return { answer, ms: performance.now() - started };
}

describe('slow clients', () => {
  it('are cut off while they trickle headers', async () => {
    const { answer, ms } = await trickle(head('GET /').repeat(5));
    expect(answer).toContain('HTTP/1.1 408 ');
    expect(performance.now() - opened).toBeGreaterThan(LIMITS.headersMs - 20);
    expect(ms).toBeLessThan(LIMITS.headersMs + 1000);
  });

  it('are cut off when they send nothing at all', async () => {
    const { answer, ms } = await trickle('');
    expect(answer).toContain('408');
    expect(ms).toBeLessThan(LIMITS.headersMs + 1000);
  });

  it('are cut off while they trickle a body', async () => {
    socket.write(`${head('POST /')}Content-Length: 1000\r\n\r\n`);
    const { answer, ms } = await trickle('x'.repeat(1000));
    expect(answer).toContain('HTTP/1.1 408 ');
    expect(ms).toBeGreaterThan(LIMITS.bodyMs - 20);
    expect(ms).toBeLessThan(LIMITS.bodyMs + 1000);
  });

  it('are cut off when the second request on a connection is the slow one', async () => {
    socket.write(`${head('GET /?wait=1')}\r\n`);
    await once(socket, 'data');
    const { ms } = await trickle(head('GET /').repeat(5));
    expect(ms).toBeLessThan(LIMITS.headersMs + LIMITS.keepAliveMs + 1000);
  });
});

/** The head of a PUT of 1000 bytes. */
const put = (path: string): string => `${head(`PUT ${path}`)}Content-Length: 1000\r\n\r\n`;

describe('uploads', () => {
  it('may take their time while they come', async () => {
    socket.write(put('/u/token0123?x'));
    const answer = received();
    const pieces = 8;
    for (let piece = 0; piece < pieces; piece += 1) {
      await sleep(LIMITS.bodyMs / 4);
      socket.write('x'.repeat(1000 / pieces));
    }
    expect(await answer).toContain('got 1000');
  });

  it('are cut off when nothing comes any more', async () => {
    socket.write(put('/u/token0123'));
    const started = performance.now();
    const { answer } = await trickle('x'.repeat(10));
    expect(answer).toContain('HTTP/1.1 408 ');
    const ms = performance.now() - started;
    expect(ms).toBeGreaterThan(LIMITS.bodyMs);
    expect(ms).toBeLessThan(2 * LIMITS.bodyMs + 1000);
  });

  it.each(['/u/../v1/kv', '/u/a/b', '/u/', '/v1/files/u/a'])(
    'are no bodies that go to %s',
    async (path) => {
      socket.write(put(path));
      const { answer, ms } = await trickle('x'.repeat(1000));
      expect(answer).toContain('HTTP/1.1 408 ');
      expect(ms).toBeLessThan(LIMITS.bodyMs + 1000);
    },
  );
});

describe('patient clients', () => {
  it('get an answer that takes longer than any limit on receiving', async () => {
    socket.write(`${head('GET /?wait=1500')}\r\n`);
    const answer = await received();
    expect(answer).toContain('waited 1500');
  });

  it('keep their connection for the next request, then lose it when they stay silent', async () => {
    for (let round = 0; round < 3; round += 1) {
      socket.write(`${head('POST /')}Content-Length: 3\r\n\r\nabc`);
      const answer = await received();
      expect(answer).toContain('got 3');
      await sleep(100);
    }
    const started = performance.now();
    await once(socket, 'close');
    expect(performance.now() - started).toBeLessThan(LIMITS.keepAliveMs + 2000);
  });
});

describe('closing', () => {
  it('waits for an answer under way and refuses new connections', async () => {
    socket.write(`${head('GET /?wait=400')}\r\n`);
    await expect.poll(() => begun).toBe(1);
    const answer = received();
    const closing = listener.close(5000);
    const late = connect(listener.port, '127.0.0.1');
    await expect(once(late, 'connect')).rejects.toThrow('ECONNREFUSED');
    expect(await answer).toContain('waited 400');
    const started = performance.now();
    await closing;
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('cuts off what takes too long', async () => {
    socket.write(`${head('GET /?wait=20000')}\r\n`);
    await expect.poll(() => begun).toBe(1);
    const started = performance.now();
    await listener.close(200);
    expect(performance.now() - started).toBeLessThan(1500);
  });
});
