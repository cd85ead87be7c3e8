import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { ReceiveLimits } from '../../../shared/http/deadlines.ts';
import { HttpServer } from '../../../shared/http/http-server.ts';

/** 200 bytes a second, and far more time than that for the rest. */
const LIMITS = {
  headersMs: 600_000,
  bodyMs: 600_000,
  keepAliveMs: 600_000,
  lowestRate: { bytes: 200, everyMs: 1000 },
};

/** How long a late taker takes nothing: longer than a body may take on a hurried server. */
const LATE_MS = 5000;
const HURRIED = { ...LIMITS, bodyMs: 2000 };

let server: HttpServer;
let slow: string[];
/** Requests in line, of which nothing is taken. */
let inLine: IncomingMessage[];
beforeEach(async () => {
  [slow, inLine] = [[], []];
  server = await listen(LIMITS);
});
afterEach(() => server.close(0));

function listen(limits: ReceiveLimits): Promise<HttpServer> {
  return HttpServer.listen(
    { host: '127.0.0.1', port: 0 },
    () => async (request, response) => {
      // Takes nothing for a while, as a disk that has much to do.
      if (request.url === '/u/late') await sleep(2500);
      if (request.url === '/w/late') await sleep(LATE_MS);
      if (request.url === '/w/in-line') {
        inLine.push(request);
        await once(request, 'its turn');
      }
      response.end(`${(await bytesOf(request)).length} bytes`);
    },
    { limits, onSlowBody: ({ url }) => slow.push(url ?? '') },
  );
}

const bytesOf = (request: IncomingMessage): Promise<string> => text(request).catch(() => '');

async function send(
  path: string,
  bytes: number,
): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return { socket, all: text(socket).catch(() => '') };
}

async function drip(socket: Socket, bytes: number, everyMs: number): Promise<void> {
  while (!socket.destroyed && !socket.readableEnded) {
    socket.write('x'.repeat(bytes));
    await sleep(everyMs);
  }
}

it.each(['/w/token', '/u/token0123'])('a body of %s that drips is ended with 408', async (path) => {
  const { socket, all } = await send(path, 100_000);
  // Long before the time for the whole body is over.
  await Promise.all([drip(socket, 1, 20), all]);
  expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  expect(slow).toEqual([path]);
});

it('a body that comes quickly and then stops before its last byte is ended with 408', async () => {
  const { socket, all } = await send('/w/token', 100_000);
  socket.write('x'.repeat(99_999));
  expect(await all).toMatch(/^HTTP\/1\.1 408 /);
});

it('a body that comes slowly, but not too slowly, is taken', async () => {
  const { socket, all } = await send('/w/token', 2000);
  for (let n = 0; n < 8; n += 1) {
    socket.write('x'.repeat(250));
    await sleep(400);
  }
  expect(await all).toContain('2000 bytes');
  expect(slow).toEqual([]);
});

it('a sender who waits for us is not the slow one', async () => {
  const { socket, all } = await send('/u/late', 4_000_000);
  socket.write('x'.repeat(4_000_000));
  expect(await all).toContain('4000000 bytes');
  expect(slow).toEqual([]);
});

it('a sender who waits in line longer than a body may take is not ended', async () => {
  await server.close(0);
  server = await listen(HURRIED);
  const { socket, all } = await send('/w/late', 300_000);
  socket.write('x'.repeat(300_000));
  expect(await all).toContain('300000 bytes');
  expect(slow).toEqual([]);
});

/** Stops the clock; returns what moves it on. */
function stoppedClock(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return async (ms) => {
    vi.advanceTimersByTime(ms);
    for (let n = 0; n < 5; n += 1) await turn();
  };
}

/** A sender of 100,000 bytes that waits in line. Of its first 70,000 less than 10,000 are left, which is too little for a second. */
async function senderInLine(): Promise<{ socket: Socket; all: Promise<string> }> {
  await server.close(0);
  server = await listen({ ...LIMITS, lowestRate: { bytes: 10_000, everyMs: 1000 } });
  const sent = await send('/w/in-line', 100_000);
  sent.socket.write('x'.repeat(70_000));
  while (inLine[0]?.socket.isPaused() !== true) await turn();
  return sent;
}

async function itsTurn(): Promise<void> {
  inLine[0]?.emit('its turn');
  while (inLine[0]?.socket.isPaused() === true || inLine[0]?.readableLength !== 0) await turn();
}

it('a sender whose turn comes just before its time is over is not ended while it sends on', async () => {
  const pass = stoppedClock();
  const { socket, all } = await senderInLine();
  await pass(1000);
  await pass(900);
  await itsTurn();
  await pass(200);
  socket.write('x'.repeat(30_000));
  expect(await all).toContain('100000 bytes');
  expect(slow).toEqual([]);
});

it('a head that came while nothing of its connection was read is not ended for being late', async () => {
  const pass = stoppedClock();
  await server.close(0);
  const sockets: Socket[] = [];
  server = await HttpServer.listen(
    { host: '127.0.0.1', port: 0 },
    () => (_, response) => response.end('here'),
    { limits: { ...LIMITS, headersMs: 1000 }, onConnection: (socket) => sockets.push(socket) },
  );
  const sent = connect(server.port, '127.0.0.1');
  while (sockets.length === 0) await turn();
  sockets[0]?.pause();
  sent.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await pass(2000);
  sockets[0]?.resume();
  const [answer] = (await once(sent, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  sent.destroy();
});

it('a sender who sends nothing more after its turn came is ended with 408', async () => {
  const pass = stoppedClock();
  const { all } = await senderInLine();
  await pass(1900);
  await itsTurn();
  for (let second = 0; second < 3; second += 1) await pass(1000);
  expect(await all).toMatch(/^HTTP\/1\.1 408 /);
});
