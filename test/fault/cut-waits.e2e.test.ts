import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Decider } from '../clients/decider.ts';
import { Hosted } from '../gateway/server/hosted.ts';
import { foundProject } from '../helpers/founding.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram } from '../helpers/programs.ts';
import { ReplicaDaemon } from '../helpers/replica-daemon.ts';
import { required } from '../helpers/require.ts';
import {
  bufferingProxy,
  cuttingHaproxy,
  cuttingNginx,
  type CuttingProxy,
} from './cut-waits/proxies.ts';
import { WAITS, type Wait } from './cut-waits/waits.ts';

const folder = temporaryFolder();
let hosted: Awaited<ReturnType<typeof Hosted.start>>;
let apiKey: string;
let projectId: string;
let gateway: string;
let data: string;

beforeAll(async () => {
  data = join(folder.path, 'data');
  hosted = await Hosted.start({
    SVC_DATA: data,
    SVC_LISTEN: '127.0.0.1:0',
    SVC_RATE_LIMIT: '0',
    SVC_MAIL_DOMAIN: 'agents.example.com',
  });
  gateway = hosted.status.listen;
  const founded = await foundProject({ url: gateway, folder: data }, { slug: 'cut' });
  ({ apiKey, id: projectId } = founded);
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

async function api(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(gateway + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

/** Resolves when the proxy has cut a call that the server can't begin to answer. */
async function firstCut({ url }: CuttingProxy): Promise<void> {
  const body = { to: ['bo@example.com'], subject: 'cut', text: 'Hello.', reply_to_inbox: false };
  const answer = await fetch(`${url}/v1/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, wait_seconds: 60 }),
  });
  expect(answer.status).toBe(504);
}

/** Every wait at the same time; its event or its decision comes after the proxy's patience. */
async function waitAll(
  waits: readonly Wait[],
  { url }: Pick<CuttingProxy, 'url'>,
  wasCut: () => Promise<void>,
): Promise<Record<string, string>> {
  const running: [Wait, string, Promise<string>][] = [];
  const run = `run${Date.now()}`;
  for (const [at, wait] of waits.entries()) {
    const own = `${run}-${at}`;
    const home = join(folder.path, own);
    mkdirSync(home, { mode: 0o700 });
    if (wait.for === 'event') await api('POST', '/v1/sources', { type: 'webhook', name: own });
    running.push([wait, own, wait.run({ url, apiKey, home, own })]);
  }
  await wasCut();
  const { items } = await api('GET', '/v1/sources');
  for (const source of items as { name: string; url: string }[]) {
    if (!source.name.startsWith(run)) continue;
    const headers = { 'content-type': 'application/json' };
    await fetch(source.url, { method: 'POST', headers, body: `{"for":"${source.name}"}` });
  }
  const decider = new Decider(data, gateway);
  const told: Record<string, string> = {};
  for (const [wait, own, answer] of running) {
    const text = await answer;
    const isThere = wait.for === 'event' ? text.includes(own) : /approved|queued|sent/.test(text);
    told[wait.name] = isThere ? 'came' : text;
  }
  await decider.stop();
  return told;
}

const allOf = (waits: readonly Wait[]) =>
  Object.fromEntries(waits.map(({ name }) => [name, 'came']));

describe.each([
  { name: 'nginx', open: cuttingNginx, hint: 'apt-get install -y nginx-light' },
  { name: 'haproxy', open: cuttingHaproxy, hint: 'apt-get install -y haproxy' },
])('through $name, which ends calls that are silent for 5 s', ({ name, open, hint }) => {
  it.runIf(required(name, findProgram(name) !== null, hint))(
    'every wait gets its event or its decision',
    async () => {
      const proxy = await open(gateway, join(folder.path, name));
      const told = await waitAll(WAITS, proxy, () => firstCut(proxy));
      expect(told).toEqual(allOf(WAITS));
      await proxy.end();
    },
  );
});

it('through a proxy that ends every long call, with 502, 503, 504, a page or nothing, our programs wait on', async () => {
  const waits = WAITS.filter(({ isStrangers }) => !isStrangers);
  const proxy = await bufferingProxy(gateway);
  const asked = await pending();
  const told = await waitAll(waits, proxy, async () => {
    await expect.poll(() => proxy.cuts, { timeout: 240_000 }).toBeGreaterThan(3 * waits.length);
    // However often a question was asked, it's one.
    expect((await pending()) - asked).toBe(waits.filter((one) => one.for === 'decision').length);
  });
  expect(told).toEqual(allOf(waits));
  await proxy.end();
});

it("through a member's daemon whose line is such a proxy, any program waits on", async () => {
  const waits = WAITS.filter(({ isStrangers }) => isStrangers);
  const proxy = await bufferingProxy(gateway);
  const daemon = await ReplicaDaemon.start(proxy.url, { projectId, apiKey });
  const told = await waitAll(waits, daemon, async () => {
    await expect.poll(() => proxy.cuts, { timeout: 240_000 }).toBeGreaterThan(3 * waits.length);
  });
  expect(told).toEqual(allOf(waits));
  await daemon.stop();
  await proxy.end();
});

async function pending(): Promise<number> {
  const { items } = await api('GET', '/v1/requests?status=pending&limit=100');
  return (items as unknown[]).length;
}
