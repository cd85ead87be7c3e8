import { createHmac, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askStatus } from '../../../daemon/probe.ts';
import { svc } from '../../helpers/daemon.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { HranaProcess } from '../../helpers/hrana/process.ts';
import { NameSwitch } from '../../helpers/name-switch.ts';
import { freePort } from '../../helpers/programs.ts';
import { SQLD, Sqld } from '../../helpers/sqld.ts';
import { Member, newProject, TeamGateway, type TeamProject } from '../../helpers/team.ts';

const SLUG = 'shop';
const SECRET = 'whsec_outgrow';
const SENDERS = 4;
const PAUSE_MS = 20;
/** Too large for a row: a blob. */
const FILE = randomBytes(400_000);
/** The machine may be busy with other tests. */
const PATIENCE_MS = 60_000;

const NOWHERE = 'http://127.0.0.1:9';

/** A gateway, and what its operator's commands need. */
interface Site {
  readonly url: string;
  readonly env: Record<string, string>;
}

/** One operator command and how long it took. */
interface Timed {
  /** What it printed. */
  readonly out: string;
  readonly command: string;
  readonly ms: number;
}

let root: ReturnType<typeof temporaryFolder>;
/** What the test started, to be ended in the opposite order. */
let endings: (() => Promise<unknown>)[];
let name: NameSwitch;
let member: Member;
let project: TeamProject;
let load: WebhookLoad;

/** Senders of webhooks, which repeat each delivery until it's acknowledged, as providers do. */
class WebhookLoad {
  /** Acknowledged deliveries: their events by number. */
  readonly accepted = new Map<number, string>();
  /** Answers other than an acknowledgement. */
  readonly refusals: { readonly status: number; readonly hasRetryAfter: boolean }[] = [];
  /** When deliveries were acknowledged, in milliseconds of a steady clock. */
  readonly #acceptedAt: number[] = [];
  readonly #over = new AbortController();
  readonly #hook: string;
  readonly #senders: Promise<void>[];

  constructor(hook: string) {
    this.#hook = hook;
    this.#senders = Array.from({ length: SENDERS }, (_, first) => this.#send(first));
  }

  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#senders);
  }

  /** Resolves when so many more are acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.accepted.size + count;
    const endsAt = performance.now() + PATIENCE_MS;
    while (this.accepted.size < wanted) {
      if (performance.now() > endsAt) throw new Error('No delivery gets through.');
      await sleep(PAUSE_MS);
    }
  }

  /** The longest time since then in which no sender got a delivery through. */
  longestGapMs(since: number): number {
    const times = this.#acceptedAt.filter((at) => at >= since);
    return Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)));
  }

  async #send(first: number): Promise<void> {
    for (let n = first; !this.#over.signal.aborted; n += SENDERS) {
      this.accepted.set(n, await this.#deliver(n));
      this.#acceptedAt.push(performance.now());
      await sleep(PAUSE_MS);
    }
  }

  async #deliver(n: number): Promise<string> {
    for (;;) {
      const response = await deliver(this.#hook, { n }).catch(() => null);
      const text = await response?.text().catch(() => null);
      if (response?.status === 200 && typeof text === 'string') {
        return (JSON.parse(text) as { event_id: string }).event_id;
      }
      if (response) {
        const { status, headers } = response;
        this.refusals.push({ status, hasRetryAfter: Number(headers.get('retry-after')) > 0 });
      }
      await sleep(PAUSE_MS);
    }
  }
}

function deliver(hook: string, payload: object): Promise<Response> {
  const body = JSON.stringify(payload);
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature };
  return fetch(hook, { method: 'POST', body, headers });
}

/** Settings of a libSQL server with gateways that share files. */
async function startServer(): Promise<Record<string, string>> {
  const folder = join(root.path, 'libsql-server');
  mkdirSync(folder);
  const env = { SVC_BLOBS: `file:${join(root.path, 'blobs')}` };
  mkdirSync(join(root.path, 'blobs'));
  if (SQLD === undefined) {
    const server = await HranaProcess.start({ folder });
    endings.push(() => server.end());
    return { ...env, SVC_DATABASE_URL: `${server.url}/{project}/` };
  }
  const sqld = await Sqld.start(SQLD, folder);
  endings.push(() => sqld.end());
  return {
    ...env,
    SVC_DATABASE_URL: `${sqld.url}/{project}/`,
    SVC_DATABASE_CREATE_URL: sqld.createUrl,
  };
}

async function start(folder: string, store: Record<string, string> = {}): Promise<Site> {
  const data = join(root.path, folder);
  mkdirSync(data, { recursive: true });
  const listen = `127.0.0.1:${await freePort()}`;
  const env = { ...store, SVC_DATA: data, SVC_MASTER_KEY_FILE: join(root.path, 'shared.key') };
  const gateway = await TeamGateway.start({
    dataFolder: data,
    listen,
    env: { ...env, SVC_PUBLIC_URL: name.url },
  });
  endings.push(() => gateway.end());
  return { url: gateway.url, env };
}

async function addSource(source: string): Promise<string> {
  const wanted = { type: 'webhook', name: source, verification: 'hmac_sha256', secret: SECRET };
  const { status, body } = await member.call('POST', '/v1/sources', wanted);
  expect([200, 201]).toContain(status);
  return String(body['url']);
}

async function replicaNow() {
  return (await askStatus(member.socketPath))?.replica;
}

async function whenLive(): Promise<void> {
  await expect
    .poll(replicaNow, { timeout: PATIENCE_MS })
    .toMatchObject({ state: 'live', reads: 'local' });
}

beforeEach(async () => {
  root = temporaryFolder();
  endings = [];
  const files = join(root.path, 'files');
  project = await newProject(files, SLUG);
  copyFileSync(join(files, 'master.key'), join(root.path, 'shared.key'));
  name = await NameSwitch.open(NOWHERE);
  endings.push(() => name.close());
});
afterEach(async () => {
  for (const end of endings.toReversed()) await end();
  root.remove();
});

/** Runs an operator's command. */
async function run(site: Site, ...args: string[]): Promise<Timed> {
  const startedAt = performance.now();
  const out = await svc(root.path, ['gateway', ...args], site.env);
  return {
    out,
    command: args.find((word) => word !== 'project') ?? '',
    ms: performance.now() - startedAt,
  };
}

/** Moves the project as an operator does, and waits until writes arrive at the new gateway. */
async function move(from: Site, to: Site, title: string): Promise<void> {
  const folder = join(root.path, title);
  const before = performance.now();
  const refused = load.refusals.length;
  const exported = await run(from, 'export', SLUG, folder, '--hold');
  expect((await member.call('GET', '/v1/inbox')).status).toBe(200);
  const imported = await run(to, 'import', folder, '--json');
  const { receipt } = JSON.parse(imported.out) as { receipt: string };
  name.lead(to.url);
  await load.more(1);
  const moved = await run(from, 'project', 'moved', SLUG, '--to', to.url, '--receipt', receipt);
  await load.more(50);
  expect(load.refusals.length).toBeGreaterThan(refused);
  tell(title, load.longestGapMs(before), [exported, imported, moved]);
}

function tell(title: string, ms: number, commands: readonly Timed[]): void {
  const parts = commands.map((one) => `${one.command} ${seconds(one.ms)}`).join(', ');
  process.stdout.write(`${title}: no write for ${seconds(ms)} (${parts})\n`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Every acknowledged delivery is in the replica, as exactly one event. */
async function expectEvents(others: readonly string[]): Promise<void> {
  const acknowledged = [...load.accepted.values(), ...others].toSorted();
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  await expect.poll(listed, { timeout: PATIENCE_MS }).toEqual(acknowledged);
}

/** The ids of all events, read from the member's replica. */
async function listed(): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { headers, body } = await member.call('GET', `/v1/inbox?limit=100${cursor}`);
    if (headers.get('x-service-replica-age') === null) return [];
    ids.push(...(body['items'] as { id: string }[]).map(({ id }) => id));
    if (body['next_cursor'] === null) return ids.toSorted();
    cursor = `&cursor=${body['next_cursor'] as string}`;
  }
}

/** The gateway that was left answers nothing about the project, and says where it is. */
async function expectClosed({ url }: Site, to: Site): Promise<void> {
  const headers = { authorization: `Bearer ${project.apiKey}` };
  const answer = await fetch(`${url}/v1/inbox`, { headers });
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining(`has moved to ${to.url}.`),
  ]);
}

const asMember = () => ({
  authorization: `Bearer ${project.apiKey}`,
  'content-type': 'application/json',
});

async function write({ url }: Site, value: string): Promise<number> {
  const sent = { method: 'PUT', headers: asMember(), body: JSON.stringify(value) };
  return (await fetch(`${url}/v1/kv/a`, sent)).status;
}

async function read({ url }: Site): Promise<unknown> {
  const answer = await fetch(`${url}/v1/kv/a`, { headers: asMember() });
  return ((await answer.json()) as Record<string, unknown>)['value'];
}

describe('a project that outgrows its machine', () => {
  it('moves from files to a libSQL server and back, while webhooks arrive and a member waits', async () => {
    const files = await start('files');
    const onServer = await start('server', await startServer());
    name.lead(files.url);
    member = new Member({ home: join(root.path, 'member'), gateway: name.url, project });
    await member.up();
    endings.push(() => member.down());
    const late = await addSource('late');
    load = new WebhookLoad(await addSource('jobs'));
    endings.push(() => load.end());
    const headers = { authorization: `Bearer ${project.apiKey}`, 'content-type': 'image/png' };
    await fetch(`${name.url}/v1/files/big`, { method: 'PUT', headers, body: FILE });
    await whenLive();
    await load.more(50);

    const woken: string[] = [];
    const there = async (from: Site, to: Site, title: string): Promise<void> => {
      const after = woken.at(-1);
      const args = after === undefined ? [] : ['--after', after];
      const wait = member.json(['inbox', 'wait', '--source', 'late', '--wait', '5m', ...args]);
      // If the move fails, the daemon stops under it.
      wait.catch(() => undefined);
      await sleep(1000);
      await move(from, to, title);
      const sent = (await (await deliver(late, { title })).json()) as { event_id: string };
      expect(await wait).toMatchObject({ event: { id: sent.event_id } });
      woken.push(sent.event_id);
      await whenLive();
      await expectClosed(from, to);
    };
    await there(files, onServer, 'to the server');
    // Frees the slug and the disk of the gateway that was left.
    await run(files, 'project', 'delete', SLUG, '--yes', SLUG);
    await there(onServer, files, 'back to files');

    await load.end();
    await expectEvents(woken);
    expect(load.refusals.filter((one) => one.status !== 503 || !one.hasRetryAfter)).toEqual([]);
    expect(await member.json(['ledger', 'verify'])).toMatchObject({ ok: true, anchored: true });
    const file = await fetch(`${name.url}/v1/files/big`, { headers });
    expect(((await file.json()) as Record<string, unknown>)['content_base64']).toBe(
      FILE.toString('base64'),
    );
  });

  it('goes back before it was told to have moved, and can be moved again later', async () => {
    const files = await start('files');
    const onServer = await start('server', await startServer());
    const folder = join(root.path, 'export');
    await run(files, 'export', SLUG, folder, '--hold');
    await run(onServer, 'import', folder);
    expect([await write(files, 'files'), await write(onServer, 'server')]).toEqual([503, 200]);
    // What was written at the server meanwhile is given up.
    await run(onServer, 'project', 'hold', SLUG);
    await run(onServer, 'project', 'moved', SLUG, '--to', files.url, '--unchecked');
    await run(files, 'project', 'release', SLUG);
    expect([await write(files, 'files'), await write(onServer, 'server')]).toEqual([200, 503]);
    await run(onServer, 'project', 'delete', SLUG, '--yes', SLUG);
    await run(files, 'export', SLUG, `${folder}-2`, '--hold');
    await run(onServer, 'import', `${folder}-2`);
    expect(await read(onServer)).toBe('files');
    expect(await write(onServer, 'again')).toBe(200);
    expect(await read(onServer)).toBe('again');
  });
});
