import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { TestPeople } from '../gateway/approvals/people.ts';
import { TextSink } from './fake-output.ts';
import { fieldsOf, parsedLine } from './tools/fakes.ts';

const HOUR_MS = 3_600_000;
const ASK = ['ask', 'approval', 'deploy', 'Deploy v2', '--wait-seconds', '0'];
const UNKNOWN = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';

let gateway: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let url: string;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  people = await TestPeople.of(gateway, clock);
  url = await gateway.addSource({ name: 'open' });
  folder = temporaryFolder();
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

interface Claimed {
  readonly id: string;
  readonly lease: string;
}

let deliveries = 0;

async function claimed(): Promise<Claimed> {
  deliveries += 1;
  const id = String((await gateway.deliver(url, `{"n":${deliveries}}`)).body['event_id']);
  return claim(id);
}

async function claim(id: string): Promise<Claimed & { readonly resumed: unknown }> {
  const answer = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: id } });
  const { lease_id: lease, resumed } = fieldsOf(answer.body);
  return { id, lease: String(lease), resumed };
}

async function event(id: string) {
  return fieldsOf((await gateway.call('GET', `/v1/inbox/events/${id}`)).body);
}

/** A command as it runs in `svc inbox work`, or elsewhere; on a terminal it answers a person. */
async function svc(
  line: readonly string[],
  { work, terminal = false }: { work?: Claimed; terminal?: boolean } = {},
) {
  const [stdout, stderr] = [new TextSink(terminal, 120), new TextSink()];
  const env = {
    SVC_HOME: folder.path,
    SVC_GATEWAY: gateway.url,
    SVC_API_KEY: gateway.apiKey,
    NO_COLOR: '1',
    ...(work && { SVC_EVENT_ID: work.id, SVC_LEASE_ID: work.lease }),
  };
  const { signal } = new AbortController();
  const code = await run(line, { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

/** Asks and parks in the worker; the id of the request. */
async function parked(work: Claimed, ...more: readonly string[]): Promise<string> {
  const { code, out } = await svc([...ASK, '--park', ...more], { work });
  expect(code).toBe(6);
  return String(parsedLine(out)['request_id']);
}

describe('svc ask --park', () => {
  it("parks the worker's event and ends with 6; the next run gets the answer with 0", async () => {
    const work = await claimed();
    const bind = ['--bind', '{"sha":"3f2a"}', '--state', '{"step":2}'];
    const { code, err, out } = await svc([...ASK, '--park', ...bind], { work });
    const { request_id: id } = parsedLine(out);
    expect([code, err]).toEqual([
      6,
      `Parked: ${work.id} waits for a person. Next: your script exits with 6, and svc inbox work runs it again after the decision\n` +
        "The question isn't sent: the gateway has no mail server. To decide, on its host: svc gateway outbox\n",
    ]);
    expect(await event(work.id)).toMatchObject({ status: 'waiting', waiting_for: [{ id }] });
    await people.decide(String(id), { verb: 'approve' });
    const again = await claim(work.id);
    expect(again.resumed).toMatchObject({ state: { step: 2 } });
    const second = await svc([...ASK, '--park', '--bind', '{"sha":"3f2a"}'], { work: again });
    expect(second.code).toBe(0);
    expect(parsedLine(second.out)).toMatchObject({ request_id: id, status: 'approved' });
  });

  it('says the same again, with 6, when its answer was lost', async () => {
    const work = await claimed();
    const line = [...ASK, '--park', '--bind', '{"sha":"3f2a"}', '--state', '{"step":2}'];
    const first = await svc(line, { work });
    expect(await svc(line, { work })).toEqual(first);
    expect(first.code).toBe(6);
    const told = await svc(line, { work, terminal: true });
    expect([told.code, told.out]).toEqual([6, expect.stringContaining(`Parked: ${work.id} waits`)]);
    const other = [...ASK, '--park', '--bind', '{"sha":"other"}'];
    expect(await svc(other, { work })).toMatchObject({
      code: 1,
      err: expect.stringContaining('The event is waiting.'),
    });
  });

  it('ends with 5 where the person denied', async () => {
    const work = await claimed();
    await people.decide(await parked(work), { verb: 'deny', comment: 'not today' });
    const again = await claim(work.id);
    const { code, out } = await svc([...ASK, '--park'], { work: again, terminal: true });
    expect([code, out]).toEqual([5, expect.stringContaining('✗ Denied by owner: not today')]);
  });

  it('tells a person at once what waits, and the next step', async () => {
    const { id } = await claimed();
    const line = ['ask', 'human', 'Which region?', '--park', '--event', id];
    const { code, out } = await svc(line, { terminal: true });
    expect(code).toBe(6);
    expect(out).toContain(`… Parked: ${id} waits for a person. `);
    expect(out).toContain(`  Next     after the decision, svc inbox claim ${id}\n`);
  });

  it('is about the event with --bind alone; SVC_EVENT_ID alone ties nothing to it', async () => {
    const work = await claimed();
    const eventOf = async (...more: readonly string[]) => {
      const { request_id: id } = parsedLine((await svc([...ASK, ...more], { work })).out);
      return fieldsOf(await people.status(String(id)))['event_id'];
    };
    expect(await eventOf()).toBeNull();
    expect(await eventOf('--bind', '{"n":1}')).toBe(work.id);
    expect(await eventOf('--event', work.id, '--amount', '2')).toBe(work.id);
    expect(await event(work.id)).toMatchObject({ status: 'claimed' });
  });

  it.each([
    [['--park'], '--park needs an event.'],
    [['--park', '--event', 'evt_1', '--until-decided'], "--park and --until-decided don't go"],
    [['--state', '{}'], '--state only works with --park.'],
  ])('refuses %j', async (flags, message) => {
    expect(await svc([...ASK, ...flags])).toMatchObject({
      code: 2,
      err: expect.stringContaining(message),
    });
  });

  it("names the flag of an event that isn't there", async () => {
    const flags = ['--event', 'evt_1', '--park'];
    const { code, err } = await svc([...ASK, ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining('--event: Expected an event id')]);
  });
});

describe('svc inbox park', () => {
  it("parks the worker's event until a time, with a state", async () => {
    const work = await claimed();
    const line = ['inbox', 'park', '--until', '+2h', '--state', '{"page":3}'];
    const { code, out } = await svc(line, { work, terminal: true });
    expect(code).toBe(0);
    expect(out).toContain(`… Parked: ${work.id} waits, until `);
    clock.advance(2 * HOUR_MS);
    expect((await claim(work.id)).resumed).toMatchObject({ state: { page: 3 }, answers: [] });
  });

  it('goes on at the first of several with --any', async () => {
    const work = await claimed();
    const first = await people.asked();
    const second = await people.asked({ summary: 'Deploy v3' });
    const line = ['inbox', 'park', work.id, '--until', `${first},${second}`, '--until', '+1d'];
    const { out } = await svc([...line, '--any'], { work });
    expect(parsedLine(out)).toMatchObject({ status: 'waiting', parks: 1 });
    await people.decide(second, { verb: 'approve' });
    expect(await event(work.id)).toMatchObject({ status: 'pending' });
  });

  it('says that what it would wait for has ended, and gives back at once with now', async () => {
    const work = await claimed();
    const request = await people.asked();
    await people.decide(request, { verb: 'approve' });
    const line = ['inbox', 'park', work.id, '--until', request];
    const { code, out } = await svc(line, { terminal: true });
    expect([code, out]).toEqual([
      0,
      `✓ ${work.id} is pending again: what it would wait for has ended.\n`,
    ]);
    const again = await claim(work.id);
    const now = await svc(['inbox', 'park', '--until', 'now'], { work: again, terminal: true });
    expect(now.out).toBe(`✓ ${work.id} is pending again.\n`);
  });

  it('gives back with now and a state, which the next run gets', async () => {
    const work = await claimed();
    const line = ['inbox', 'park', '--until', 'now', '--state', '{"page":4}'];
    expect(await svc(line, { work })).toMatchObject({ code: 0 });
    expect((await claim(work.id)).resumed).toMatchObject({ because: 'now', state: { page: 4 } });
  });

  it.each([
    [['--reason', 'busy', '--state', '{"page":4}'], '--state: Only with `until`'],
    [['--reason', 'busy', '--any'], '--any: Only with `until`.'],
    [['--until', '+1h', '--retry', 'false'], '--retry: With `until` the event comes back'],
  ])('of svc inbox nack says which flag it cannot honour: %j', async (flags, message) => {
    const { id } = await claimed();
    const { code, err } = await svc(['inbox', 'nack', id, ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(await event(id)).toMatchObject({ status: 'claimed' });
  });

  it('refuses what no event can wait for, a lease of somebody else, and a line without an end', async () => {
    const work = await claimed();
    const unknown = await svc(['inbox', 'park', '--until', UNKNOWN], { work });
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('No such request.') });
    const other = { ...work, lease: 'lse_other' };
    const lost = await svc(['inbox', 'park', '--until', '+1h'], { work: other });
    expect(lost).toMatchObject({ code: 1, err: expect.stringContaining('LEASE_NOT_HELD') });
    expect(await svc(['inbox', 'park'], { work })).toMatchObject({ code: 2 });
    expect(await svc(['inbox', 'park', '--until', '+1h'])).toMatchObject({ code: 2 });
  });

  it('is what svc inbox nack does with --until', async () => {
    const { id } = await claimed();
    const { code, out } = await svc(['inbox', 'nack', id, '--until', '+2h'], { terminal: true });
    expect([code, out]).toEqual([0, expect.stringContaining(`… Parked: ${id} waits, until `)]);
  });
});

describe('what waits', () => {
  it('stands in svc inbox list --status waiting, and with its event in svc request list', async () => {
    const work = await claimed();
    const request = await parked(work);
    const list = await svc(['inbox', 'list', '--status', 'waiting'], { terminal: true });
    expect(list.out).toMatch(new RegExp(`WAITS FOR ID.*\n${work.id}  ${request}`));
    const requests = await svc(['request', 'list'], { terminal: true });
    expect(requests.out).toMatch(new RegExp(`${request}  pending .*${work.id}`));
    const { out } = await svc(['request', 'status', request], { terminal: true });
    expect(out).toMatch(new RegExp(`Event +${work.id}`));
  });

  it('ends with svc request withdraw; a decision that came first stands', async () => {
    const work = await claimed();
    const line = ['request', 'withdraw', await parked(work), '--reason', 'a newer one is ready.'];
    const { code, out } = await svc(line, { terminal: true });
    expect([code, out]).toEqual([0, '✓ Withdrawn: a newer one is ready.\n']);
    expect(await event(work.id)).toMatchObject({ status: 'pending' });
    const decided = await people.asked();
    await people.decide(decided, { verb: 'approve' });
    const late = await svc(['request', 'withdraw', decided], { terminal: true });
    expect(late).toMatchObject({ code: 1, out: '✓ Too late to withdraw it. Approved by owner.\n' });
    expect(await svc(['request', 'withdraw', decided])).toMatchObject({
      code: 1,
      out: expect.stringContaining('"withdrawn":false'),
    });
  });
});
