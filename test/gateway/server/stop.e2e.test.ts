import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { newProject, type TeamProject } from '../../helpers/team.ts';
import { Hosted } from './hosted.ts';

const SENDERS = 16;
const WAITS = 8;

let folder: ReturnType<typeof temporaryFolder>;
let project: TeamProject;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;
let url = '';

async function start(): Promise<void> {
  hosted = await Hosted.start({
    SVC_DATA: join(folder.path, 'data'),
    SVC_LISTEN: '127.0.0.1:0',
    SVC_RATE_LIMIT: '0',
  });
  url = hosted.status.base_url;
}

beforeEach(async () => {
  folder = temporaryFolder();
  project = await newProject(join(folder.path, 'data'), 'stop');
  await start();
});
afterEach(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${project.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function newHook(): Promise<string> {
  return String((await call('/v1/sources', { type: 'webhook', name: 'load' }))['url']);
}

/** Delivers until the gateway is gone; the ids of the events that were acknowledged. */
async function load(hook: string, sender: number): Promise<string[]> {
  const accepted: string[] = [];
  for (let n = 0; ; n += 1) {
    const body = JSON.stringify({ sender, n });
    const answer = await fetch(hook, { method: 'POST', body }).catch(() => null);
    if (answer === null) return accepted;
    const told = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
    if (answer.status === 200 && told) accepted.push(String(told['event_id']));
  }
}

async function pendingIds(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = ''; ;) {
    const page = await call(`/v1/inbox?limit=100${cursor}`);
    for (const { id } of page['items'] as { id: string }[]) ids.add(id);
    if (page['next_cursor'] === null) return ids;
    cursor = `&cursor=${page['next_cursor'] as string}`;
  }
}

describe('SIGTERM', () => {
  it('under load answers waits, ends streams, and loses nothing that was acknowledged', async () => {
    const hook = await newHook();
    const waits = Array.from({ length: WAITS }, () =>
      call('/v1/inbox/wait?source=nobody&timeout_seconds=120'),
    );
    const stream = await fetch(`${url}/v1/replica/changes`, {
      headers: { authorization: `Bearer ${project.apiKey}` },
    });
    const senders = Array.from({ length: SENDERS }, (_, sender) => load(hook, sender));
    await sleep(1500);
    const code = await hosted.end();
    expect(code).toBe(0);
    expect(await Promise.all(waits)).toMatchObject(waits.map(() => ({ event: null })));
    expect(await stream.text()).toMatch(/event: end/);
    const accepted = (await Promise.all(senders)).flat();
    expect(accepted.length).toBeGreaterThan(SENDERS);
    expect(hosted.log.slice(-2).map(({ msg }) => msg)).toEqual(['ending', 'ended']);
    expect(hosted.err).toBe('');

    await start();
    const there = await pendingIds();
    expect(accepted.filter((id) => !there.has(id))).toEqual([]);
    expect(await call('/v1/ledger/verify', {})).toMatchObject({ ok: true });
  });

  it('does not wait for clients that send nothing, or half a request', async () => {
    const { hostname, port } = new URL(url);
    const silent = connect(Number(port), hostname).on('error', () => undefined);
    await Promise.all([once(silent, 'connect'), halfRequest()]);
    expect(await hosted.end()).toBe(0);
  });

  it('ends it at once when it comes again', async () => {
    await halfRequest();
    hosted.child.kill('SIGTERM');
    // The command that started it passes on what it got itself: that is no second signal.
    hosted.child.kill('SIGINT');
    await expect.poll(() => hosted.out).toContain('"msg":"ending"');
    await sleep(700);
    expect(hosted.child.exitCode).toBeNull();
    expect(await hosted.end('SIGINT')).toBe(1);
    expect(hosted.out).not.toContain('"msg":"ended"');
  });
});

/** A request whose key is good, and whose body never comes: it is under way until it is cut off. */
async function halfRequest(): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST /v1/inbox/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.apiKey}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  // By the time this is answered that one has been taken.
  await call('/v1/whoami');
}
