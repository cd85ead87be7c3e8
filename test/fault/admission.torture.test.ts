import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { freePort } from '../helpers/programs.ts';
import { newProjects, TeamGateway, type TeamProject } from '../helpers/team.ts';

const MIB = 1024 * 1024;
const SOCKETS = 2049;

interface Tenant extends TeamProject {
  readonly hook: string;
}

const folder = temporaryFolder();
let gateway: TeamGateway;
let a: Tenant;
let b: Tenant;
const opened: Socket[] = [];

beforeAll(async () => {
  const dataFolder = join(folder.path, 'data');
  const [first, second] = await newProjects(dataFolder, 2);
  if (!first || !second) throw new Error('There are no projects.');
  const listen = `127.0.0.1:${await freePort()}`;
  // Nobody is a proxy: the attackers come from the address of the others.
  const env = { SVC_TRUSTED_PROXIES: '10.0.0.0/8' };
  gateway = await TeamGateway.start({ dataFolder, listen, env });
  [a, b] = [await withHook(first), await withHook(second)];
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(async () => {
  await gateway.end();
  folder.remove();
});

async function call({ apiKey }: TeamProject, method: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return fetch(gateway.url + path, { method, headers, body: JSON.stringify(body) });
}

async function withHook(project: TeamProject): Promise<Tenant> {
  const added = await call(project, 'POST', '/v1/sources', { type: 'webhook', name: 'open' });
  return { ...project, hook: ((await added.json()) as { url: string }).url };
}

/** The statuses of a large write with a key and of a webhook. */
async function writesOf(tenant: Tenant): Promise<number[]> {
  const value = 'x'.repeat(100_000);
  const kv = await call(tenant, 'PUT', '/v1/kv/k', value);
  const hook = await fetch(tenant.hook, { method: 'POST', body: `${Math.random()} ${value}` });
  return [kv.status, hook.status];
}

/** Begins a request, and sends this much of its body. */
async function begin(path: string, length: number, sent: number, ...headers: string[]) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  opened.push(socket);
  await once(socket, 'connect');
  socket.resume();
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, `Content-Length: ${length}`];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const closed = once(socket, 'close');
  const all = new Promise((resolve) => socket.write(Buffer.alloc(sent, 'x'), resolve));
  await Promise.race([all, closed]);
  return socket;
}

const JSON_TYPE = 'Content-Type: application/json';

describe('all writes of a tenant are answered', () => {
  it('while another holds 51 bodies of its hook address', async () => {
    const { pathname } = new URL(a.hook);
    const holders = Array.from({ length: 51 }, () => begin(pathname, 5 * MIB, 5 * MIB - 1));
    const during = [];
    for (let n = 0; n < 10; n += 1) during.push(await writesOf(b));
    await Promise.all(holders);
    for (let n = 0; n < 10; n += 1) during.push(await writesOf(b));
    expect(during).toEqual(during.map(() => [200, 200]));
  });

  it.each([
    ['half-sent sign-ins', '/v1/auth/start', 2000, 1000],
    ['sign-ins of 128 KB', '/v1/auth/start', 131_072, 131_071],
    ['forms of nobody', '/s/nobody', 16_384, 16_000],
  ])(`while ${SOCKETS} sockets send %s`, async (_, path, length, sent) => {
    for (let n = 0; n < SOCKETS; n += 1) await begin(path, length, sent, JSON_TYPE);
    const during = [];
    for (let n = 0; n < 10; n += 1) during.push(await writesOf(a), await writesOf(b));
    expect(during).toEqual(during.map(() => [200, 200]));
  });

  it('while one address opens more connections than it may have, and says nothing', async () => {
    const { hostname, port } = new URL(gateway.url);
    for (let n = 0; n < 4500; n += 1) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      opened.push(socket);
      await once(socket, 'connect');
    }
    const during = [];
    for (let n = 0; n < 10; n += 1) during.push(await writesOf(a), await writesOf(b));
    expect(during).toEqual(during.map(() => [200, 200]));
  });
});

describe('2,049 slow senders', () => {
  it('are gone after a few seconds', async () => {
    const sockets: Socket[] = [];
    for (let n = 0; n < SOCKETS; n += 1) {
      sockets.push(await begin(new URL(b.hook).pathname, 100_000, 1));
    }
    const ticker = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x');
    }, 1000);
    const left = (): number => sockets.filter(({ closed }) => !closed).length;
    for (let n = 0; n < 150 && left() > 0; n += 1) await sleep(100);
    clearInterval(ticker);
    expect(left()).toBe(0);
  });
});
