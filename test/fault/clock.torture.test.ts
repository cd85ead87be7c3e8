import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { freePort } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

const LIBRARY = [
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`,
  '/usr/lib/faketime/libfaketimeMT.so.1',
].find((path) => existsSync(path));

const ready = required(
  'clocks that jump',
  LIBRARY !== undefined,
  'libfaketime is not here (apt-get install -y libfaketime)',
);

const folder = temporaryFolder();
const offset = join(folder.path, 'offset');
let project: TeamProject;
let gateway: TeamGateway;
let hook = '';

beforeAll(async () => {
  if (!ready) return;
  setClock('+0');
  const dataFolder = join(folder.path, 'data');
  project = await newProject(dataFolder, 'clock');
  gateway = await TeamGateway.start({
    dataFolder,
    listen: `127.0.0.1:${await freePort()}`,
    env: {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: '1',
      // The wall clock jumps; the monotonic clock never does.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  });
  hook = String((await call('POST', '/v1/sources', { type: 'webhook', name: 'open' }))['url']);
});
afterAll(async () => {
  if (ready) await gateway.end();
  folder.remove();
});

/** Sets how far the gateway's clock is off: `+1d`, `-1d`. */
function setClock(text: string): void {
  writeFileSync(offset, `${text}\n`);
}

async function call(
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown> & { error?: { code: string } }> {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${project.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function deliver(name: string): Promise<string> {
  const answer = await fetch(hook, { method: 'POST', body: name });
  return ((await answer.json()) as { event_id: string }).event_id;
}

interface Event {
  readonly id: string;
  readonly received_at: string;
  readonly payload: unknown;
}

async function pending(): Promise<Event[]> {
  const { items } = await call('GET', '/v1/inbox?limit=100');
  return items as Event[];
}

const hours = (event: Event | undefined): number =>
  (Date.parse(event?.received_at ?? '') - Date.now()) / 3_600_000;

describe.skipIf(!ready)('the clock of a machine', () => {
  it('may be set while somebody waits: the wait takes as long as it was asked to', async () => {
    const began = performance.now();
    const waiting = call('GET', '/v1/inbox/wait?type=none&timeout_seconds=3');
    for (const jump of ['+1d', '-1d', '+30d', '+0']) {
      await sleep(400);
      setClock(jump);
    }
    expect(await waiting).toEqual({ event: null });
    expect(performance.now() - began).toBeGreaterThan(2900);
  });

  it('may go a day ahead and two back: events stay in the order in which they came', async () => {
    const ids = [await deliver('now')];
    setClock('+1d');
    ids.push(await deliver('tomorrow'));
    setClock('-1d');
    ids.push(await deliver('yesterday'));
    setClock('+0');
    ids.push(await deliver('now again'));
    const events = await pending();
    expect(events.map(({ id }) => id)).toEqual(ids);
    // The gateway did see another time.
    expect(hours(events[1])).toBeGreaterThan(20);
    const times = events.map(({ received_at }) => received_at);
    expect(times).toEqual(times.toSorted());
    expect(await call('POST', '/v1/ledger/verify', {})).toMatchObject({ ok: true });
  });

  it('may end a lease too soon: whoever had it is told, and one of two finishes the work', async () => {
    const id = await deliver('leased');
    const first = await call('POST', '/v1/inbox/claim', { event_id: id, lease_seconds: 300 });
    setClock('+1d');
    const late = await call('POST', '/v1/inbox/ack', { event_id: id, lease_id: first['lease_id'] });
    expect(late.error?.code).toBe('LEASE_EXPIRED');
    const second = await call('POST', '/v1/inbox/claim', { event_id: id, lease_seconds: 300 });
    expect(second['lease_id']).not.toBe(first['lease_id']);
    setClock('+0');
    const old = await call('POST', '/v1/inbox/ack', { event_id: id, lease_id: first['lease_id'] });
    expect(old.error?.code).toBe('LEASE_NOT_HELD');
    const done = await call('POST', '/v1/inbox/ack', {
      event_id: id,
      lease_id: second['lease_id'],
    });
    expect(done).toMatchObject({ status: 'done' });
  });

  it('may go months ahead: nothing is deleted that is only old by that clock', async () => {
    const id = await deliver('kept');
    setClock('+90d');
    // A delivery makes maintenance run soon.
    await deliver('later');
    await sleep(1500);
    setClock('+0');
    const event = (await pending()).find((one) => one.id === id);
    expect(event?.payload).toEqual({ text: 'kept' });
    expect(await call('POST', '/v1/ledger/verify', {})).toMatchObject({ ok: true });
  });
});
