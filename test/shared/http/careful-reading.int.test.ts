import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HttpServer } from '../../../shared/http/http-server.ts';

const CHUNKED = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK = '1\r\na\r\n';
/** As many as Node reads at once. */
const MANY = 10_000;
/** 4000, and what is left of a slice. */
const CHUNKS_PER_TURN = 5000;

let server: HttpServer;
let sockets: Socket[];
let seen: { taken: number; pieces: number };
let heldBack: IncomingMessage[];
/** The server's side of the connection whose body is taken. */
let peer: Socket;

beforeEach(async () => {
  [sockets, heldBack] = [[], []];
  const now = { taken: 0, pieces: 0 };
  seen = now;
  server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => (request, response) => {
    if (request.url === '/early') {
      response.end('early');
      return;
    }
    if (request.url === '/soon') {
      setImmediate(() => response.end('soon'));
      return;
    }
    if (request.url === '/untaken') {
      heldBack.push(request);
      return;
    }
    peer = request.socket;
    request.on('data', (bytes: Buffer) => {
      now.taken += bytes.length;
      now.pieces += 1;
    });
    request.on('end', () => response.end('taken'));
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close(0);
});

function open(): Socket {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Sends small chunks without end. */
function flood(line: string): Socket {
  const socket = open();
  const many = CHUNK.repeat(MANY);
  const send = (): void => {
    while (!socket.destroyed && socket.write(many));
  };
  socket.write(`${line} HTTP/1.1\r\n${CHUNKED}`);
  socket.on('drain', send);
  send();
  return socket;
}

/** The most that a turn of the event loop brought, until so much was taken. */
async function mostInATurn(until: number): Promise<number> {
  let most = 0;
  for (let before = seen.taken; seen.taken < until; before = seen.taken) {
    await turn();
    most = Math.max(most, seen.taken - before);
  }
  return most;
}

/** What nobody takes. */
function unread(): number {
  return heldBack[0]?.readableLength ?? 0;
}

async function answered(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString('latin1');
}

it('bodies of one-byte chunks on fifty connections are parsed a few thousand chunks a turn', async () => {
  for (let n = 0; n < 50; n += 1) flood('PUT /taken');
  // By then the first has shown what they send.
  await mostInATurn(20_000);
  expect(await mostInATurn(seen.taken + 100_000)).toBeLessThanOrEqual(CHUNKS_PER_TURN);
});

it('a client that floods again after all its connections have closed is read as carefully', async () => {
  const first = flood('PUT /taken');
  await mostInATurn(20_000);
  const closed = new Promise((done) => peer.once('close', done));
  first.destroy();
  await closed;
  const before = seen.taken;
  flood('PUT /taken');
  expect(await mostInATurn(before + MANY)).toBeLessThanOrEqual(CHUNKS_PER_TURN);
});

it('who sends little is answered before the chunks of fifty connections at the same address', async () => {
  for (let n = 0; n < 50; n += 1) flood('PUT /taken');
  await mostInATurn(20_000);
  const neighbour = open();
  const before = seen.taken;
  for (let n = 0; n < 5; n += 1) {
    expect(await answered(neighbour, 'GET /early HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/early$/);
  }
  // Each would have waited for 50 × 10,000.
  expect(seen.taken - before).toBeLessThan(50 * MANY);
});

it('a client that is read carefully loses nothing, and gets all its answers', async () => {
  flood('PUT /taken');
  await mostInATurn(20_000);
  const other = open();
  const body = `${CHUNK.repeat(30_000)}0\r\n\r\n`;
  const all = text(other);
  const one = `PUT /taken HTTP/1.1\r\n${CHUNKED}${body}`;
  other.write(one.repeat(3) + 'GET /early HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect((await all).match(/taken|early/g)).toEqual(['taken', 'taken', 'taken', 'early']);
});

it('six hundred small chunks, each sent when the one before has come, get through', async () => {
  const socket = open();
  socket.write(`PUT /taken HTTP/1.1\r\n${CHUNKED}`);
  for (let n = 0; n < 600; n += 1) {
    socket.write(CHUNK);
    while (seen.taken <= n) await turn();
  }
  expect(await answered(socket, '0\r\n\r\n')).toMatch(/taken$/);
});

it('small chunks that come together are joined', async () => {
  const socket = open();
  const body = `${CHUNK.repeat(MANY)}0\r\n\r\n`;
  expect(await answered(socket, `PUT /taken HTTP/1.1\r\n${CHUNKED}${body}`)).toMatch(/taken$/);
  expect([seen.taken, seen.pieces < MANY / 100]).toEqual([MANY, true]);
});

it('a client that is read carefully sends no more than is taken', async () => {
  flood('PUT /taken');
  await mostInATurn(20_000);
  const socket = open();
  socket.write(`PUT /untaken HTTP/1.1\r\n${CHUNKED}`);
  await expect.poll(() => heldBack.length).toBe(1);
  const large = `10000\r\n${'a'.repeat(65_536)}\r\n`;
  while (unread() < 16_384) {
    socket.write(large);
    await turn();
  }
  socket.write(large.repeat(200));
  await mostInATurn(seen.taken + 50_000);
  expect(unread()).toBeLessThan(10 * 65_536);
});

it('a body that waited to be taken when its client became careful is taken', async () => {
  const socket = open();
  socket.write('PUT /untaken HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
  socket.write('a'.repeat(1_000_000));
  await expect.poll(() => unread() > 16_384).toBe(true);
  flood('PUT /taken');
  await mostInATurn(20_000);
  const [request] = heldBack;
  expect((await text(request ?? Readable.from([]))).length).toBe(1_000_000);
});

it.each(['GET /early', 'PUT /early'])(
  'after an answer to %s nobody parses the rest of its chunks, and the connection closes',
  async (line) => {
    const all = await text(flood(line));
    expect(all).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close[^]*early/);
  },
);

it('a connection whose chunks are complete serves another request', async () => {
  const socket = open();
  const empty = `PUT /soon HTTP/1.1\r\n${CHUNKED}0\r\n\r\n`;
  for (let n = 0; n < 3; n += 1) {
    expect(await answered(socket, empty)).toMatch(/Connection: keep-alive[^]*soon$/);
  }
});
