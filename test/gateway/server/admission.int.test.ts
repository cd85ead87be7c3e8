import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DOORS } from '../../../shared/admission/limits.ts';
import { HostedGateway, type HostedProject } from '../../helpers/hosted.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

const MIB = 1024 * 1024;
/** The peer of our own calls is a proxy that is trusted; 127.0.0.2 and others are not. */
const TRUSTED = '127.0.0.1/32';

let gateway: HostedGateway;
let a: HostedProject;
let b: HostedProject;
const opened: Socket[] = [];

beforeAll(async () => {
  gateway = await HostedGateway.start(TRUSTED);
  [a, b] = [await gateway.project('a'), await gateway.project('b')];
});
afterAll(() => gateway.stop());
afterEach(letGo);

/** Lets go of all bodies that are held. */
async function letGo(): Promise<void> {
  for (const socket of opened.splice(0)) socket.destroy();
  while (bodyBytes() > 0) await sleep(5);
}

/** The bytes of bodies in transfer. */
const bodyBytes = (): number =>
  DOORS.reduce((sum, door) => sum + gateway.admission.bodyBytes(door), 0);

interface Held {
  readonly socket: Socket;
  /** What came back until the other side closed. */
  readonly answer: Promise<string>;
}

/** Sends the headers of a body of this length, and all of it but the last byte. */
async function hold(
  path: string,
  { length, method = 'POST', from = '127.0.0.1', headers = [] }: HoldWanted,
): Promise<Held> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: from });
  opened.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  const answer = text(socket).catch(() => '');
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, `Content-Length: ${length}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const closed = once(socket, 'close');
  const sent = new Promise((resolve) => socket.write(Buffer.alloc(length - 1, 'x'), resolve));
  await Promise.race([sent, closed]);
  return { socket, answer };
}

interface HoldWanted {
  readonly length: number;
  readonly method?: string;
  readonly from?: string;
  readonly headers?: readonly string[];
}

const hookOf = ({ hook }: HostedProject): string => new URL(hook).pathname;

/** The statuses of a project's write with its key and of a webhook. */
async function writesOf({ apiKey, hook }: HostedProject): Promise<number[]> {
  const kv = await fetch(`${gateway.url}/v1/kv/k`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify('x'.repeat(200_000)),
  });
  const delivered = await fetch(hook, { method: 'POST', body: 'x'.repeat(300_000) });
  return [kv.status, delivered.status];
}

describe('a tenant who holds many bodies of its hook address', () => {
  it('has a share of 32 MB, and slows nobody else', async () => {
    const held: Held[] = [];
    for (let n = 0; n < 10; n += 1) held.push(await hold(hookOf(a), { length: 5 * MIB }));
    expect(bodyBytes()).toBeGreaterThan(29 * MIB);
    expect(bodyBytes()).toBeLessThanOrEqual(32 * MIB);
    for (let n = 0; n < 5; n += 1) expect(await writesOf(b)).toEqual([200, 200]);
    const answer = (await held[9]?.answer) ?? '';
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toContain('"of":"project"');
    expect(answer).toContain('Retry-After: 1');
    expect(await gateway.metrics()).toContain(
      'svc_turned_away_total{at="webhook",reason="project"} 4',
    );
  });
});

describe('somebody without a key', () => {
  it('may send 2 KB to sign in, and no more', async () => {
    for (const path of ['/v1/auth/start', '/v1/auth/poll', '/v1/auth/keys', '/v1/projects']) {
      const refused = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'x'.repeat(2048) }),
      });
      expect(refused.status).toBe(413);
      expect(((await refused.json()) as { error: unknown }).error).toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        hint: 'At most 2 KB.',
      });
    }
  });
});

describe('a slow sender', () => {
  it('is ended at every door, and counted', async () => {
    const started = await startUpload();
    const json = 'Content-Type: application/json';
    const key = `Authorization: Bearer ${b.apiKey}`;
    const doors: [path: string, ...headers: string[]][] = [
      ['/v1/auth/start', json],
      [hookOf(b)],
      ['/v1/inbox/claim', json, key],
      ['/mcp', json, key, 'Accept: application/json, text/event-stream'],
    ];
    hurryTime(50);
    const held = await Promise.all([
      ...doors.map(([path, ...headers]) => hold(path, { length: 2, headers })),
      hold(started, { length: 1000, method: 'PUT', headers: ['Content-Type: text/plain'] }),
    ]);
    for (const { answer } of held) expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    const metrics = (await gateway.metrics()).join('\n');
    for (const at of ['anonymous', 'webhook', 'api', 'upload']) {
      expect(metrics).toMatch(`svc_turned_away_total{at="${at}",reason="slow"} `);
    }
    // It was told, and didn't leave by itself.
    const told = 'svc_http_requests_total{method="POST",route="/w/{token}",status="408"} ';
    expect(metrics).toContain(told);
  });

  it('of a head is ended and counted', async () => {
    hurryTime(50);
    const socket = connect(gateway.port, '127.0.0.1');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    const metrics = (await gateway.metrics()).join('\n');
    expect(metrics).toContain('svc_turned_away_total{at="connection",reason="slow"} ');
  });
});

/** The path of an upload of 1,000 bytes. */
async function startUpload(): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/files/large`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${b.apiKey}`,
      'content-type': 'application/vnd.service.upload+json',
    },
    body: JSON.stringify({ upload: { size: 1000, content_type: 'text/plain' } }),
  });
  const { upload_url } = (await answer.json()) as { upload_url: string };
  return new URL(upload_url).pathname;
}

const heldBodies = (): number => bodyBytes() / 2047;

/** How many of 270 bodies of 2 KB are held: an address without a key may have 512 KB of them. */
async function heldBy(from: string, addressOf: (n: number) => string): Promise<number> {
  const all = await Promise.all(
    Array.from({ length: 270 }, (_, n) => {
      const headers = ['Content-Type: application/json', `X-Forwarded-For: ${addressOf(n)}`];
      return hold('/v1/auth/start', { length: 2048, from, headers });
    }),
  );
  const refused = (): number => all.filter(({ socket }) => socket.readableEnded).length;
  while (heldBodies() + refused() < all.length) await sleep(5);
  const count = heldBodies();
  await letGo();
  return count;
}

describe('the address in X-Forwarded-For', () => {
  // However long 270 of them take to come, none counts as slow.
  beforeEach(() => hurryTime(1 / 10));

  it('counts from a trusted proxy, an IPv6 one as its /64', async () => {
    expect(await heldBy('127.0.0.1', (n) => `192.0.2.${n % 200}`)).toBe(270);
    expect(await heldBy('127.0.0.1', (n) => `2001:db8::${n}`)).toBe(256);
  });

  it('does not count from anybody else', async () => {
    expect(await heldBy('127.0.0.2', (n) => `192.0.2.${n % 200}`)).toBe(256);
  });
});
