import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Project } from '../../gateway/projects/project.ts';
import { TestPeople } from '../gateway/approvals/people.ts';
import { caller, type Call } from '../helpers/calls.ts';
import { TestGateway } from '../helpers/gateway.ts';

/** The suite runs 1,000; set it to 10,000 for a figure. */
const PAIRS = Number(process.env['SVC_TEST_PAIRS'] ?? 1000);
/** A project has at most 50 pending requests. */
const LANES = 20;
const AGENTS = 64;
const PEOPLE = 20;
const EVENTS = 640;

let gateway: TestGateway;
let project: Project;
let call: Call;
let hook = '';
beforeEach(async () => {
  // This test doesn't need a real disk, and memory is faster.
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
  gateway = await TestGateway.start();
  vi.unstubAllEnvs();
  hook = await gateway.addSource({ name: 'open' });
  ({ project } = await TestPeople.of(gateway, { now: Date.now }));
  ({ call } = await caller(gateway, gateway.apiKey));
});
afterEach(() => gateway.stop());

async function deliver(n: number): Promise<string> {
  const { body } = await gateway.deliver(hook, `{"n":${n}}`);
  return String(body['event_id']);
}

/** Decides as the owner; false if someone else was quicker. */
async function decide(requestId: string): Promise<boolean> {
  const notices = await project.store.read(({ notices: sent }) => sent.ofRequest(requestId));
  const tokenHash = notices.find(({ token_hash }) => token_hash !== null)?.token_hash;
  if (tokenHash == null) throw new Error(`Nobody was asked about ${requestId}.`);
  const choice = { verb: 'approve' } as const;
  const done = await project.writes.run('decide', {
    tokenHash,
    choice,
    place: 'link',
    now: Date.now(),
  });
  return done.outcome === 'taken';
}

async function ledgerCount(op: string): Promise<number> {
  return project.store.read(async ({ ledger }) => {
    let count = 0;
    for (let before: number | undefined; ;) {
      const rows = await ledger.page({ op, beforeSeq: before, limit: 500 });
      count += rows.length;
      before = rows.at(-1)?.seq;
      if (rows.length < 500) return count;
    }
  });
}

async function statuses(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of ['pending', 'claimed', 'waiting', 'failed', 'dead', 'done']) {
    const { value } = await call('inbox_list', { status, source: 'open', limit: 1 });
    counts[status] = (value['items'] as unknown[]).length;
  }
  return counts;
}

const lanes = (count: number, work: (lane: number) => Promise<void>): Promise<void[]> =>
  Promise.all(Array.from({ length: count }, (_, lane) => work(lane)));

describe(`${PAIRS} pairs of a park and its decision at one moment`, () => {
  it('lose none, and ask nobody twice', async () => {
    const asked = new Set<string>();
    await lanes(LANES, async (lane) => {
      for (let n = lane; n < PAIRS; n += LANES) asked.add(await pair(n));
    });
    expect(asked.size).toBe(PAIRS);
    expect(await statuses()).toEqual({
      pending: 0,
      claimed: 0,
      waiting: 0,
      failed: 0,
      dead: 0,
      done: 1,
    });
    expect(await ledgerCount('request.decided')).toBe(PAIRS);
    expect(await ledgerCount('event.resumed')).toBe(PAIRS);
    const verified = await call('ledger_verify', {});
    expect(verified.value).toMatchObject({ ok: true });
  });
});

/** One event: two agents ask the same question at once, then park it while a person decides. */
async function pair(n: number): Promise<string> {
  const event_id = await deliver(n);
  const { value } = await call('inbox_claim', { event_id });
  const question = { event_id, action: 'deploy', wait_seconds: 0, bind: { n } };
  const [first, second] = await Promise.all(
    ['one', 'two'].map((summary) => call('ask_approval', { ...question, summary })),
  );
  const request = String(first?.value['request_id']);
  expect(second?.value['request_id']).toBe(request);
  const { lease_id } = value;
  const [parked, taken] = await Promise.all([
    call('inbox_nack', { event_id, lease_id, until: [request] }),
    decide(request),
  ]);
  expect([parked.code, taken]).toEqual(['ok', true]);
  const again = await call('inbox_claim', { event_id });
  expect(again.value['resumed']).toMatchObject({
    because: request,
    answers: [{ request_id: request, status: 'approved' }],
  });
  expect((await call('inbox_ack', { event_id })).code).toBe('ok');
  return request;
}

describe(`${AGENTS} agents that park, and ${PEOPLE} people who decide`, () => {
  it('end each event once, with one question each', async () => {
    const count = { left: EVENTS, taken: 0 };
    for (let n = 0; n < EVENTS; n += 1) await deliver(n);
    const agent = async (): Promise<void> => {
      while (count.left > 0) {
        const { value } = await call('inbox_list', { source: 'open', limit: 30 });
        const found = oneOf(value['items'] as { id: string }[]);
        if (!found) {
          await sleep(5);
          continue;
        }
        const claimed = await call('inbox_claim', { event_id: found.id });
        if (claimed.code === 'ok' && (await handle(claimed.value))) count.left -= 1;
      }
    };
    const person = async (): Promise<void> => {
      for (; count.left > 0; await sleep(5)) {
        const { value } = await call('request_list', { status: 'pending', limit: 50 });
        const open = oneOf(value['items'] as { request_id: string }[]);
        if (open && (await decide(open.request_id))) count.taken += 1;
      }
    };
    await Promise.all([lanes(AGENTS, agent), lanes(PEOPLE, person)]);
    expect(count).toEqual({ left: 0, taken: EVENTS });
    expect(await ledgerCount('request.decided')).toBe(EVENTS);
    expect(await statuses()).toMatchObject({ pending: 0, claimed: 0, waiting: 0, dead: 0 });
  });
});

function oneOf<T>(items: readonly T[]): T | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

/** An agent's run over an event, always from the top; true when the event is done. */
async function handle(event: Record<string, unknown>): Promise<boolean> {
  const { id: event_id, lease_id } = event;
  const question = { event_id, lease_id, action: 'deploy', summary: 'Deploy', wait_seconds: 0 };
  const { code, value } = await call('ask_approval', { ...question, park: true });
  if (code === 'TOO_MANY_PENDING_REQUESTS') {
    await call('inbox_nack', { event_id, lease_id, until: ['now'] });
    await sleep(20);
    return false;
  }
  expect(code).toBe('ok');
  if (value['parked'] === true) return false;
  expect(value['status']).toBe('approved');
  return (await call('inbox_ack', { event_id, lease_id })).code === 'ok';
}
