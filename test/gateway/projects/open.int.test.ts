import { readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../gateway/projects/project.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

const MAX = 4;

interface Member {
  readonly id: string;
  readonly apiKey: string;
  readonly project: Project;
}

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, openProjectsMax: MAX });
});
afterEach(() => gateway.stop());

async function member(name: string): Promise<Member> {
  const { project, apiKey } = await gateway.gateway.createProject({ name, slug: name });
  const found = await gateway.gateway.projects.find(project.id);
  if (!found) throw new Error('no project');
  return { id: project.id, apiKey, project: found };
}

function members(count: number): Promise<Member[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => member(`member-${n}`)));
}

const openCount = () => gateway.gateway.projects.openCount;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Databases of projects that this process has open, as the system sees it. */
function openDatabases(): string[] {
  // The driver lets go of files when the statements are collected.
  collect();
  const paths = readdirSync('/proc/self/fd').map(linkOf);
  return [...new Set(paths.filter((path) => /\/projects\/[^/]+\/project\.db$/.test(path)))];
}

function isOpen({ id }: Member): boolean {
  return openDatabases().some((path) => path.includes(id));
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

/** Uses other projects until this one is closed. */
async function crowdOut(others: readonly Member[]): Promise<void> {
  for (const { apiKey } of others) await gateway.call('GET', '/v1/kv', { key: apiKey });
}

describe('a gateway with more projects than it may have open', () => {
  it('answers all of them rightly, loses nothing, and opens no more than it may', async () => {
    const all = await members(12);
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, openCount());
    }, 1);
    const work = all.map(async ({ apiKey }, n) => {
      const key = { key: apiKey };
      for (let round = 0; round < 2; round += 1) {
        const body = { n, round };
        const put = gateway.call('PUT', `/v1/kv/round-${round}`, { ...key, body });
        const more = gateway.call('PUT', '/v1/kv/last', { ...key, body });
        expect((await put).status).toBe(200);
        expect((await more).status).toBe(200);
        const read = await gateway.call('GET', `/v1/kv/round-${round}`, key);
        expect(read.body).toMatchObject({ value: { n, round } });
      }
    });
    await Promise.all(work);
    clearInterval(watch);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(MAX);
    await expect.poll(() => openDatabases().length).toBeLessThanOrEqual(MAX);
    for (const [n, { apiKey }] of all.entries()) {
      const verified = await gateway.call('POST', '/v1/ledger/verify', { key: apiKey, body: {} });
      expect(verified.body).toMatchObject({ ok: true });
      const listed = await gateway.call<{ items: { key: string }[] }>('GET', '/v1/kv', {
        key: apiKey,
      });
      expect(listed.body.items).toHaveLength(3);
      const last = await gateway.call('GET', '/v1/kv/last', { key: apiKey });
      expect(last.body).toMatchObject({ value: { n, round: 1 } });
    }
  });

  it('keeps open what somebody waits on, and answers the wait', async () => {
    const [waiter, ...others] = await members(9);
    if (!waiter) throw new Error('no member');
    const { apiKey: key } = waiter;
    const source = await gateway.call<{ url: string }>('POST', '/v1/sources', {
      body: { type: 'webhook', name: 'hooks', verification: 'none' },
      key,
    });
    const waiting = gateway.call<{ event: { id: string } | null }>(
      'GET',
      '/v1/inbox/wait?timeout_seconds=20',
      { key },
    );
    await expect.poll(() => waiter.project.waits.size, { interval: 5 }).toBe(1);
    await crowdOut(others);
    await crowdOut(others);
    expect(isOpen(waiter)).toBe(true);
    const delivered = await gateway.deliver(source.body.url, '{"type":"x"}');
    expect(delivered.status).toBe(200);
    expect((await waiting).body.event).toMatchObject({ id: delivered.body['event_id'] });
    await crowdOut(others);
    await expect.poll(() => isOpen(waiter)).toBe(false);
  });

  it('answers one project that is hammered while another wants its place', async () => {
    await gateway.stop();
    gateway = await TestGateway.start({ openProjectsMax: 1 });
    const [busy, other] = await members(2);
    if (!busy || !other) throw new Error('no member');
    const over = new AbortController();
    const hammer = async (lane: number): Promise<number> => {
      let done = 0;
      while (!over.signal.aborted) {
        const path = `/v1/kv/lane-${lane}`;
        const put = await gateway.call('PUT', path, { key: busy.apiKey, body: done });
        expect(put.status).toBe(200);
        const read = await gateway.call('GET', path, { key: busy.apiKey });
        expect(read.body).toMatchObject({ value: done });
        done += 1;
      }
      return done;
    };
    const lanes = [0, 1, 2].map(hammer);
    for (let n = 0; n < 10; n += 1) {
      const put = await gateway.call('PUT', '/v1/kv/n', { key: other.apiKey, body: n });
      expect(put.status).toBe(200);
      expect(openCount()).toBe(1);
    }
    over.abort();
    const written = (await Promise.all(lanes)).reduce((sum, done) => sum + done, 0);
    const verified = await gateway.call<{ checked: number }>('POST', '/v1/ledger/verify', {
      key: busy.apiKey,
      body: {},
    });
    expect(verified.body).toMatchObject({ ok: true });
    const head = await busy.project.store.read((store) => store.ledger.head());
    expect(head?.seq).toBe(verified.body.checked);
    expect(verified.body.checked).toBeGreaterThanOrEqual(written);
  });

  it('opens a closed project for what falls due in it', async () => {
    const [one, ...others] = await members(6);
    if (!one) throw new Error('no member');
    const { apiKey: key } = one;
    const source = await gateway.call<{ url: string }>('POST', '/v1/sources', {
      body: { type: 'webhook', name: 'hooks', verification: 'none' },
      key,
    });
    const { body } = await gateway.deliver(source.body.url, '{}');
    const event_id = body['event_id'];
    await gateway.call('POST', '/v1/inbox/claim', { key, body: { event_id, lease_seconds: 30 } });
    await crowdOut(others);
    await expect.poll(() => isOpen(one)).toBe(false);
    clock.advance(31_000);
    // The timer looks at the clock when it is set, and this one stood still.
    others[0]?.project.atLatest(clock.now());
    await expect.poll(() => isOpen(one), { interval: 5 }).toBe(true);
    const expired = async (): Promise<number> => {
      const path = '/v1/ledger?op=lease.expired';
      const seen = await gateway.call<{ items: unknown[] }>('GET', path, { key });
      return seen.body.items.length;
    };
    await expect.poll(expired, { interval: 20 }).toBe(1);
  });
});
