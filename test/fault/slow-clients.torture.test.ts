import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { freePort } from '../helpers/programs.ts';
import { rawRequest } from '../helpers/raw-http.ts';
import { newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

const SLOW = 500;
const TURNS = 12;
/** Of the calls that the others make without slow clients: half of them, as a busy machine counts too. */
const LEAST_SHARE = 0.5;
const MIB = 1024 * 1024;

const folder = temporaryFolder();
let project: TeamProject;
let gateway: TeamGateway;
let hook = '';
beforeAll(async () => {
  const dataFolder = join(folder.path, 'data');
  project = await newProject(dataFolder, 'slow');
  gateway = await TeamGateway.start({ dataFolder, listen: `127.0.0.1:${await freePort()}` });
  const added = await fetch(`${gateway.url}/v1/sources`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'webhook', name: 'open' }),
  });
  hook = ((await added.json()) as { url: string }).url;
});
afterAll(async () => {
  await gateway.end();
  folder.remove();
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** Calls answered in a while, over eight connections that are kept. */
async function healthyRate(): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const headers = { authorization: `Bearer ${project.apiKey}` };
  const endsAt = performance.now() + 400;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const asked = request(`${gateway.url}/v1/whoami`, { agent, headers });
      asked.end();
      const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & object];
      response.resume();
      await once(response, 'end');
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  agent.destroy();
  return answered;
}

/** Kinds of slow clients: what each sends at first, and what it then keeps dripping. */
const manners: readonly (readonly [first: string, more: string])[] = [
  // Says nothing at all.
  ['', ''],
  // Never comes to the end of its headers.
  ['GET /v1/whoami HTTP/1.1\r\nHost: x\r\n', 'X-More: 1\r\n'],
  // Not even to the end of its first line.
  ['GET /', 'a'],
  // Never comes to the end of its body.
  ['POST {hook} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n', 'x'],
  // Asks, and reads nothing of the answer.
  ['GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n', ''],
];

async function slowClient(index: number): Promise<Socket> {
  const [first, more] = manners[index % manners.length] ?? ['', ''];
  const { hostname, port, pathname } = new URL(hook);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  if (first !== '') socket.write(first.replace('{hook}', pathname));
  if (more !== '') {
    const timer = setInterval(() => socket.write(more), 500 + (index % 100) * 5);
    socket.once('close', () => clearInterval(timer));
  }
  return socket;
}

const slowClients = (): Promise<Socket[]> =>
  Promise.all(Array.from({ length: SLOW }, (_, n) => slowClient(n)));

describe(`${SLOW} slow clients`, () => {
  it('leave the others their rate, and the gateway its memory', async () => {
    const memory = residentBytes();
    let alone = 0;
    let beside = 0;
    // In turns, because other work on the machine counts too: only the best time with them and without them counts.
    for (let turn = 0; turn < TURNS && (turn < 3 || beside < alone * LEAST_SHARE); turn += 1) {
      const sockets = await slowClients();
      beside = Math.max(beside, await healthyRate());
      expect(residentBytes() - memory).toBeLessThan(96 * MIB);
      for (const socket of sockets) socket.destroy();
      alone = Math.max(alone, await healthyRate());
    }
    expect(beside / alone).toBeGreaterThanOrEqual(LEAST_SHARE);
  });

  it('are gone by themselves where they owe a request', async () => {
    const sockets = await slowClients();
    const owing = sockets.filter((_, index) => index % manners.length < 3);
    for (const socket of owing) socket.resume();
    const left = (): number => owing.filter(({ closed }) => !closed).length;
    await expect.poll(left).toBe(0);
    for (const socket of sockets) socket.destroy();
  });
});

interface Door {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly limit: number;
  readonly type: string;
}

const doors: readonly Door[] = [
  { name: 'a webhook', method: 'POST', path: '', limit: 5 * MIB, type: 'text/plain' },
  {
    name: 'a small call',
    method: 'POST',
    path: '/v1/inbox/claim',
    limit: 128 * 1024,
    type: 'application/json',
  },
  {
    name: 'a value',
    method: 'PUT',
    path: '/v1/kv/large',
    limit: 2 * MIB,
    type: 'application/json',
  },
  {
    name: 'a file',
    method: 'PUT',
    path: '/v1/files/large',
    limit: MIB,
    type: 'application/octet-stream',
  },
  { name: 'a mail', method: 'POST', path: '/v1/emails', limit: 2 * MIB, type: 'application/json' },
  { name: 'the tools', method: 'POST', path: '/mcp', limit: 2 * MIB, type: 'application/json' },
];

const urlOf = ({ path }: Door): string => (path === '' ? hook : gateway.url + path);

function headOf(door: Door, ...more: string[]): string[] {
  return [
    `${door.method} {path} HTTP/1.1`,
    `Authorization: Bearer ${project.apiKey}`,
    `Content-Type: ${door.type}`,
    'Accept: application/json, text/event-stream',
    ...more,
  ];
}

/** Half a gigabyte of zeros, as ten members of one stream. */
const BOMB = Buffer.concat(
  Array.from({ length: 10 }).fill(gzipSync(Buffer.alloc(50 * MIB))) as Uint8Array[],
);

function* endless(): Generator<Uint8Array> {
  const piece = Buffer.concat([
    Buffer.from('10000\r\n'),
    Buffer.alloc(65_536, 0x78),
    Buffer.from('\r\n'),
  ]);
  for (let sent = 0; sent < 60 * MIB; sent += piece.length) yield piece;
}

describe('a body at any door', () => {
  it.each(doors)('of $name is refused by its length before it is sent', async (door) => {
    for (const length of [door.limit * 2, 10 ** 12, Number.MAX_SAFE_INTEGER]) {
      const head = headOf(door, `Content-Length: ${length}`);
      const { status, text, sent } = await rawRequest(urlOf(door), head);
      expect([status, sent]).toEqual([413, 0]);
      expect(text).toContain('PAYLOAD_TOO_LARGE');
      expect(text).toMatch(/^connection: close\r$/im);
    }
  });

  it.each(doors)('of $name without a length is refused once it is too long', async (door) => {
    const memory = residentBytes();
    const head = headOf(door, 'Transfer-Encoding: chunked');
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => rawRequest(urlOf(door), head, endless())),
    );
    // A client that is still sending may see the connection close before it reads the answer.
    for (const { status } of answers) expect([0, 413]).toContain(status);
    expect(Math.max(...answers.map(({ sent }) => sent))).toBeLessThan(30 * MIB);
    expect(residentBytes() - memory).toBeLessThan(96 * MIB);
  });

  it.each(doors)('of $name whose length cannot be believed is no request', async (door) => {
    const lies = [
      ['Content-Length: -1'],
      ['Content-Length: 1e3'],
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked, identity'],
      ['Content-Length: 99999999999999999999999'],
    ];
    for (const lie of lies) {
      const answer = await rawRequest(urlOf(door), headOf(door, ...lie), [
        Buffer.from('5\r\nhello'),
      ]);
      expect({ lie, status: answer.status }).toEqual({ lie, status: 400 });
      expect(answer.closed || /^connection: close/im.test(answer.text)).toBe(true);
    }
  });

  it.each(doors)('of $name that is compressed is refused, and never unpacked', async (door) => {
    const memory = residentBytes();
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip']) {
      const response = await fetch(urlOf(door), {
        method: door.method,
        headers: {
          authorization: `Bearer ${project.apiKey}`,
          'content-type': door.type,
          accept: 'application/json, text/event-stream',
          'content-encoding': encoding,
        },
        body: BOMB,
      });
      const text = await response.text();
      expect({ encoding, status: response.status }).toEqual({ encoding, status: 415 });
      expect(text).toContain('UNSUPPORTED_MEDIA_TYPE');
    }
    expect(residentBytes() - memory).toBeLessThan(64 * MIB);
  });

  it('was refused by a gateway that is well', async () => {
    const answer = await fetch(hook, { method: 'POST', body: 'still there' });
    expect(answer.status).toBe(200);
  });
});
