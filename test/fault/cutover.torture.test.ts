import { createHmac, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf } from '../helpers/convergence.ts';
import { svc } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { HranaProcess } from '../helpers/hrana/process.ts';
import { NameSwitch } from '../helpers/name-switch.ts';
import { freePort } from '../helpers/programs.ts';
import { newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

const SENDERS = 4;
const WORKERS = 2;
const SECRET = 'whsec_cutover';
/** Too large for a row: a blob. */
const FILE = randomBytes(400_000);
const LINKED = 'sent by a link';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

let root: ReturnType<typeof temporaryFolder>;
let [old, fresh, moved] = ['', '', ''];
let gateways: TeamGateway[];
/** Where the new gateway has its databases; null for files. */
let database: HranaProcess | null;
let [oldUrl, newUrl] = ['', ''];
let router: NameSwitch;
let project: TeamProject;
let hooks: { jobs: string; late: string };
/** Acknowledged deliveries: their events by number. */
let accepted: Map<number, string>;
let acked: Set<string>;
/** Refusals: the call, its status, and whether it had Retry-After. */
let refusals: (readonly [what: string, status: number, hasRetryAfter: boolean])[];
let next: number;

beforeEach(() => {
  root = temporaryFolder();
  [old, fresh, moved] = ['old', 'new', 'move'].map((name) => join(root.path, name)) as [
    string,
    string,
    string,
  ];
  [gateways, database, hooks] = [[], null, { jobs: '', late: '' }];
  [accepted, acked, refusals, next] = [new Map(), new Set(), [], 0];
});
afterEach(async () => {
  for (const one of gateways) await one.end();
  await router?.close();
  await database?.end();
  root.remove();
});

async function startDatabase(): Promise<void> {
  const folder = join(root.path, 'libsql-server');
  mkdirSync(folder);
  database = await HranaProcess.start({ folder });
}

/** The database settings of the new gateway and of its commands. */
function databaseSettings(): Record<string, string> {
  return database ? { SVC_DATABASE_URL: `${database.url}/{project}/` } : {};
}

async function start(): Promise<void> {
  project = await newProject(old, 'shop');
  mkdirSync(fresh);
  copyFileSync(join(old, 'master.key'), join(fresh, 'master.key'));
  const listens = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
  [oldUrl, newUrl] = [`http://${listens[0]}`, `http://${listens[1]}`];
  router = await NameSwitch.open(oldUrl);
  const env = { SVC_PUBLIC_URL: router.url };
  gateways.push(await TeamGateway.start({ dataFolder: old, listen: listens[0], env }));
  const there = { ...env, ...databaseSettings() };
  gateways.push(await TeamGateway.start({ dataFolder: fresh, listen: listens[1], env: there }));
}

/** One call; null when the connection broke. */
async function call(
  path: string,
  options: { method?: string; body?: unknown; key?: string; base?: string; type?: string } = {},
): Promise<Answer | null> {
  const { body, method = body === undefined ? 'GET' : 'POST' } = options;
  try {
    const response = await fetch((options.base ?? router.url) + path, {
      method,
      headers: {
        authorization: `Bearer ${project.apiKey}`,
        'content-type': options.type ?? 'application/json',
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as Answer['body'] };
  } catch {
    return null;
  }
}

/** One call over a working connection. */
async function called(path: string, options: Parameters<typeof call>[1] = {}): Promise<Answer> {
  const answer = await call(path, options);
  if (!answer) throw new Error(`${path} was not answered.`);
  return answer;
}

/** Repeats the call until it's answered, as a client does on 503. */
async function patiently(path: string, body?: unknown, key?: string): Promise<Answer> {
  for (;;) {
    const sent = { ...(body !== undefined && { body }), ...(key !== undefined && { key }) };
    const answer = await call(path, sent);
    const isUnderWay = JSON.stringify(answer?.body ?? null).includes('IDEMPOTENCY_IN_PROGRESS');
    if (answer && answer.status !== 503 && !isUnderWay) return answer;
    if (answer?.status === 503) {
      refusals.push(['call', answer.status, Number(answer.headers.get('retry-after')) > 0]);
    }
    await sleep(20);
  }
}

/** Sends one signed delivery until it is acknowledged, as providers do. */
async function deliver(source: 'jobs' | 'late', n: number): Promise<string> {
  const body = JSON.stringify({ n });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  for (;;) {
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const response = await fetch(hooks[source], { method: 'POST', body, headers }).catch(
      () => null,
    );
    const text = await response?.text().catch(() => null);
    if (response?.status === 200 && typeof text === 'string') {
      return (JSON.parse(text) as { event_id: string }).event_id;
    }
    if (response) {
      refusals.push(['delivery', response.status, response.headers.has('retry-after')]);
    }
    await sleep(20);
  }
}

async function send(over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    next += 1;
    const n = next;
    accepted.set(n, await deliver('jobs', n));
    await sleep(20);
  }
}

/** Takes one event after another, and finishes the last one before it stops. */
async function work(worker: number, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const waited = await patiently('/v1/inbox/wait?source=jobs&timeout_seconds=1');
    const event = waited.body['event'] as { id: string } | null;
    if (!event) continue;
    const claim = await patiently(
      '/v1/inbox/claim',
      { event_id: event.id },
      `claim-${worker}-${event.id}`,
    );
    // The other worker was quicker.
    if (claim.status !== 200) continue;
    const done = await patiently(
      '/v1/inbox/ack',
      { event_id: event.id },
      `ack-${worker}-${event.id}`,
    );
    expect(done.status).toBe(200);
    acked.add(event.id);
  }
}

/** Waits for an event that comes long after, over connections that break. */
async function waitFor(source: string): Promise<string> {
  for (;;) {
    const waited = await patiently(`/v1/inbox/wait?source=${source}&timeout_seconds=60`);
    const event = waited.body['event'] as { id: string } | null;
    if (event) return event.id;
  }
}

async function listed(status: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await called(`/v1/inbox?status=${status}&limit=100${cursor}`);
    ids.push(...(body['items'] as { id: string }[]).map(({ id }) => id));
    if (body['next_cursor'] === null) return ids;
    cursor = `&cursor=${body['next_cursor'] as string}`;
  }
}

const operator = (...args: string[]): Promise<string> => svc(root.path, ['gateway', ...args]);
const atNew = (...args: string[]): Promise<string> =>
  svc(root.path, ['gateway', ...args], databaseSettings());

/** The old gateway wrote nothing after the copy, and answers nothing about the project. */
async function expectClosed(position: number): Promise<void> {
  const left = contentOf(join(old, 'projects', project.id, 'project.db'));
  expect(left.position).toBe(position);
  const there = await called('/v1/inbox', { base: oldUrl });
  expect(there).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  expect(JSON.stringify(there.body)).toContain(`has moved to ${newUrl}.`);
}

/** Every acknowledged delivery is there once, and finished events are done. */
async function expectEvents(): Promise<void> {
  const found = new Map<string, string>();
  for (const status of ['pending', 'claimed', 'done', 'failed', 'dead']) {
    for (const id of await listed(status)) found.set(id, status);
  }
  expect(new Set(accepted.values()).size).toBe(accepted.size);
  expect([...found.keys()].toSorted()).toEqual([...accepted.values()].toSorted());
  expect([...acked].filter((id) => found.get(id) !== 'done')).toEqual([]);
}

interface Exported {
  readonly position: number;
  readonly ledger: { readonly seq: number; readonly hash: string };
}

async function expectLedger({ seq, hash }: Exported['ledger']): Promise<void> {
  const { body } = await called(`/v1/ledger?cursor=${seq + 1}&limit=1`);
  expect(body['items']).toMatchObject([{ seq, hash }]);
  const verified = await called('/v1/ledger/verify', { body: {} });
  expect(verified.body).toMatchObject({ ok: true, anchored: true, first_bad_seq: null });
}

/** Moves it as an operator does. */
async function cutOver(): Promise<Exported> {
  const made = await operator('export', 'shop', moved, '--hold', '--data', old, '--json');
  // Callers are told to come again, and can read.
  await expect.poll(() => refusals.length).toBeGreaterThan(0);
  expect((await called('/v1/inbox')).status).toBe(200);
  const { receipt } = JSON.parse(await atNew('import', moved, '--data', fresh, '--json'));
  router.lead(newUrl);
  const where = ['--to', newUrl, '--receipt', String(receipt), '--data', old];
  await operator('project', 'moved', 'shop', ...where);
  return JSON.parse(made) as Exported;
}

const isToComeAgain = ([, status, hasRetryAfter]: (typeof refusals)[number]): boolean =>
  status === 503 && hasRetryAfter;

const upload = (body: object): Promise<Answer> =>
  called('/v1/files/upload', {
    method: 'PUT',
    body,
    type: 'application/vnd.service.upload+json',
  });

/** A link that was made before is used after. */
async function expectLink({ body }: Answer): Promise<void> {
  const { upload_url, upload_headers, upload_id } = body as {
    readonly upload_url: string;
    readonly upload_headers: Record<string, string>;
    readonly upload_id: string;
  };
  const sent = { method: 'PUT', headers: upload_headers, body: LINKED };
  expect((await fetch(upload_url, sent)).status).toBe(200);
  expect((await upload({ complete: upload_id })).status).toBe(200);
  const { body: file } = await called('/v1/files/upload');
  expect(file['content_base64']).toBe(Buffer.from(LINKED).toString('base64'));
}

describe('a project that moves to another gateway under load', () => {
  it.each([
    ['with files', async () => undefined],
    ['over a libSQL server', startDatabase],
  ])(
    'takes everything along that was acknowledged, and nothing twice, to one %s',
    async (_kind, prepare) => {
      await prepare();
      await start();
      for (const name of ['jobs', 'late'] as const) {
        const source = { type: 'webhook', name, verification: 'hmac_sha256', secret: SECRET };
        hooks[name] = String((await patiently('/v1/sources', source)).body['url']);
      }
      await fetch(`${router.url}/v1/files/big`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${project.apiKey}`, 'content-type': 'image/png' },
        body: FILE,
      });
      const link = await upload({ upload: { size: LINKED.length, content_type: 'text/plain' } });
      const over = new AbortController();
      const lanes = [
        ...Array.from({ length: SENDERS }, () => send(over.signal)),
        ...Array.from({ length: WORKERS }, (_, worker) => work(worker, over.signal)),
      ];
      const late = waitFor('late');
      await expect.poll(() => acked.size).toBeGreaterThan(20);
      const { position, ledger } = await cutOver();
      const before = acked.size;
      await expect.poll(() => acked.size).toBeGreaterThan(before + 20);
      over.abort();
      await Promise.all(lanes);

      expect(refusals.filter((one) => !isToComeAgain(one))).toEqual([]);
      await expectClosed(position);
      await expectEvents();
      await expectLedger(ledger);
      const file = await called('/v1/files/big');
      expect(file.body['content_base64']).toBe(FILE.toString('base64'));
      // A wait from before the move gets its event at the new gateway.
      const id = await deliver('late', 0);
      expect(await late).toBe(id);
      await expectLink(link);
    },
  );
});
