import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Hosted } from '../gateway/server/hosted.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { freePort } from '../helpers/programs.ts';
import { newProject, type TeamProject } from '../helpers/team.ts';

const SENDERS = 16;
/** What systemd waits before it starts a service again, unless told otherwise. */
const RESTART_MS = 100;
/** The promise is one second; the rest is patience with a busy machine. */

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'data');
let project: TeamProject;
let url = '';
let hook = '';
let hosted: Hosted;

beforeAll(async () => {
  project = await newProject(dataFolder, 'misfortune');
  url = `http://127.0.0.1:${await freePort()}`;
  hosted = await start();
  const { body } = await call('/v1/sources', { type: 'webhook', name: 'load' });
  hook = String(body['url']);
});
beforeEach(async () => {
  // A thread that is torn down may take the whole process with it, and the next try needs a new one.
  const { exitCode, signalCode } = hosted.child;
  if (exitCode !== null || signalCode !== null) hosted = await start();
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

function start(): Promise<Hosted> {
  return Hosted.start({
    SVC_DATA: dataFolder,
    SVC_LISTEN: new URL(url).host,
    SVC_PUBLIC_URL: url,
    SVC_RATE_LIMIT: '0',
    NODE_OPTIONS: `--import ${resolve('test/helpers/misfortune.mjs')}`,
  });
}

interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Record<string, unknown>;
}

async function ask(path: string, init: RequestInit): Promise<Answered> {
  const answer = await fetch(path, init);
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body };
}

function call(path: string, body?: object): Promise<Answered> {
  return ask(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${project.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

let deliveries = 0;

/** Delivers until the gateway is gone, and keeps what that said. */
async function load(answers: Answered[]): Promise<void> {
  for (;;) {
    deliveries += 1;
    const body = JSON.stringify({ n: deliveries });
    const answer = await ask(hook, { method: 'POST', body }).catch(() => null);
    if (!answer) return;
    answers.push(answer);
  }
}

async function pendingIds(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = ''; ;) {
    const { body } = await call(`/v1/inbox?limit=100${cursor}`);
    for (const { id } of body['items'] as { id: string }[]) ids.add(id);
    if (body['next_cursor'] === null) return ids;
    cursor = `&cursor=${body['next_cursor'] as string}`;
  }
}

const misfortunes: readonly (readonly [
  what: string,
  signal: NodeJS.Signals,
  endsInOrder: boolean,
  /** Null: ended by a signal. */
  codes: readonly (number | null)[],
])[] = [
  // A thread that ends in the middle of native code may take the process along.
  ['whose writing thread ends', 'SIGUSR2', true, [1, null]],
  ['with a rejection that nobody handles', 'SIGHUP', false, [1]],
  ['that aborts in native code', 'SIGABRT', false, [null]],
];

describe('a gateway', () => {
  it.each(misfortunes)(
    '%s leaves nobody waiting, ends, and is back under its service manager with all it took',
    async (_what, signal, endsInOrder, codes) => {
      const waits = Array.from({ length: 5 }, () =>
        call('/v1/inbox/wait?type=none&timeout_seconds=100').catch(() => null),
      );
      const answers: Answered[] = [];
      const senders = Array.from({ length: SENDERS }, () => load(answers));
      await sleep(500);
      await expect.poll(() => answers.length).toBeGreaterThan(2 * SENDERS);
      hosted.child.kill(signal);
      const code = await hosted.exited;
      await Promise.all([...senders, ...waits]);
      expect(codes).toContain(code);
      const isAborted = code === null;
      const accepted = answers.filter(({ status }) => status === 200);
      expect(accepted.length).toBeGreaterThan(SENDERS);
      // Every other answer says to come again.
      for (const { status, retryAfter, body } of answers.filter((one) => one.status !== 200)) {
        expect(status).toBe(503);
        expect(Number(retryAfter)).toBeGreaterThan(0);
        expect(body).toMatchObject({ error: { code: 'UNAVAILABLE' } });
      }
      const fatal = hosted.log.filter(({ level }) => level === 60 || level === 'fatal');
      expect(fatal.length > 0).toBe(!isAborted);
      // A process that still can answers open calls.
      const isTold = answers.some(({ status }) => status === 503);
      expect(isTold || isAborted || !endsInOrder).toBe(true);

      await sleep(RESTART_MS);
      hosted = await start();
      expect((await call('/v1/whoami')).status).toBe(200);
      const there = await pendingIds();
      const ids = accepted.map(({ body }) => String(body['event_id']));
      expect(ids.filter((id) => !there.has(id))).toEqual([]);
      expect((await call('/v1/ledger/verify', {})).body).toMatchObject({ ok: true });
    },
  );
});
