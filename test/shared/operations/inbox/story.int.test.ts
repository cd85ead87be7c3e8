import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from '../../../../cli/run.ts';
import { TextSink } from '../../../cli/fake-output.ts';
import { temporaryFolder, type TestGateway } from '../../../helpers/gateway.ts';
import { eachWithPeople, refused, type TestPeople } from '../../../gateway/approvals/people.ts';

interface Story {
  readonly event: { status: string; verified: boolean };
  readonly requests: { request_id: string; shown: { bind: unknown } }[];
  readonly entries: { seq: number; op: string }[];
  readonly openings: { seq: number; value: { done?: { bind: unknown; result: unknown } } }[];
}

interface Told {
  readonly steps: { op: string; text: string; values?: unknown; proven: boolean }[];
  readonly head: { seq: number; hash: string };
  readonly added: number;
}

const VALUES = { pr: 7, sha: '3f2a' };

let test: TestGateway;
let people: TestPeople;
let url: string;
let deliveries = 10;
const folder = temporaryFolder();
const path = join(folder.path, 'story.ndjson');
eachWithPeople(async (made) => {
  ({ test, people } = made);
  url = await test.addSource({ name: 'open' });
  writeFileSync(path, '');
});
afterAll(() => folder.remove());

const post = (route: string, body: unknown) => test.call('POST', route, { body });
const storyOf = (id: string) => test.call<Story>('GET', `/v1/inbox/events/${id}/story`);

/** An event that an agent worked on with an approval, to the end. */
async function worked(): Promise<string> {
  const event_id = String((await test.deliver(url, `{"n":${(deliveries += 1)}}`)).body['event_id']);
  await post('/v1/inbox/claim', { event_id });
  const spends = await people.asked({ event_id, bind: VALUES });
  await people.decide(spends, { verb: 'approve', comment: 'go' });
  await post('/v1/inbox/ack', { event_id, spends, bind: VALUES, result: 'merged' });
  return event_id;
}

/** A command line against the gateway; `offline`: with nothing to call. */
async function svc(args: readonly string[], { offline = false } = {}) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const reach = { SVC_GATEWAY: test.url, SVC_API_KEY: test.apiKey };
  const env = { SVC_HOME: join(folder.path, 'home'), ...(!offline && reach) };
  const signal = new AbortController().signal;
  const code = await run([...args, '--json'], { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

const told = ({ out }: { out: string }) => JSON.parse(out) as Told;

/** What a story proves of single approvals. */
const votes = ({ steps }: Told) =>
  steps.filter(({ op, proven }) => op === 'request.voted' && proven).map(({ text }) => text);

describe('the story of an event', () => {
  it('has every step from the webhook to the act', async () => {
    const id = await worked();
    const { body } = await storyOf(id);
    expect(body.event).toMatchObject({ status: 'done', verified: false });
    expect(body.entries.map(({ op }) => op)).toEqual([
      'event.received',
      'inbox_claim',
      'ask_approval',
      'request.decided',
      'approval.spent',
      'inbox_ack',
    ]);
    expect(body.requests.map(({ shown }) => shown.bind)).toEqual([VALUES]);
    expect(body.openings.at(-1)?.value.done).toMatchObject({ bind: VALUES, result: 'merged' });
  });

  it('tells and proves each of several approvals', async () => {
    const ana = await people.activeChannel('ana@example.com', 'ana');
    const event_id = String((await test.deliver(url, '{"n":3}')).body['event_id']);
    await post('/v1/inbox/claim', { event_id });
    const request = await people.asked({ event_id, approvals: 2 });
    await people.decide(request, { verb: 'approve', comment: 'fine' }, ana);
    await people.decide(request, { verb: 'approve' }, await people.owner());
    const expected = [
      'ana (a***@example.com) approved: 1 of 2, "fine"',
      'owner (o***@localhost) approved: 2 of 2',
    ];
    expect(votes(told(await svc(['story', event_id, '--out', path])))).toEqual(expected);
    const offline = await svc(['story', event_id, '--file', path], { offline: true });
    expect(votes(told(offline))).toEqual(expected);
  });

  it('tells what the policy decided, and proves it', async () => {
    await people.setPolicy({ id: 'docs', effect: 'allow', action: ['pr.*'] });
    const event_id = String((await test.deliver(url, '{"n":2}')).body['event_id']);
    await test.call('POST', '/v1/inbox/claim', { body: { event_id } });
    await people.asked({ event_id, action: 'pr.merge', bind: VALUES });
    const { steps } = told(await svc(['story', event_id]));
    expect(steps.find(({ op }) => op === 'request.decided')).toMatchObject({
      text: 'policy:docs decided: approved',
      proven: true,
    });
  });

  it('is about events of its own project', async () => {
    const id = await worked();
    const route = `/v1/inbox/events/${id}/story`;
    const second = await test.gateway.createProject({ name: 'Second', slug: 'second' });
    const foreign = await test.call('GET', route, { key: second.apiKey });
    expect(foreign).toMatchObject(refused(404, 'NOT_FOUND'));
  });

  it('shows nobody an address', async () => {
    const id = await worked();
    expect(JSON.stringify((await storyOf(id)).body)).not.toMatch(/[a-z]{2,}@/);
  });
});

describe('svc story and svc ledger, from a file', () => {
  it('tell the same without a server', async () => {
    const id = await worked();
    const saved = told(await svc(['story', id, '--out', path]));
    const offline = await svc(['story', id, '--file', path], { offline: true });
    expect(offline.code).toBe(0);
    expect(told(offline).steps).toEqual(saved.steps);
    expect(told(offline).head).toEqual(saved.head);
    expect(saved.steps.filter(({ proven }) => proven).map(({ op }) => op)).toEqual([
      'request.decided',
      'approval.spent',
    ]);
    const verified = await svc(['ledger', 'verify', '--file', path], { offline: true });
    expect(JSON.parse(verified.out)).toMatchObject({ ok: true, checked: saved.head.seq });
  });

  it('find other values than those that were shown', async () => {
    const id = await worked();
    await svc(['story', id, '--out', path]);
    writeFileSync(path, readFileSync(path, 'utf8').replace('3f2a', '3f2b'));
    for (const args of [
      ['ledger', 'verify'],
      ['story', id],
    ]) {
      const { code, err } = await svc([...args, '--file', path], { offline: true });
      expect([code, err]).toMatchObject([1, expect.stringMatching(/broken at entry \d+/)]);
    }
  });

  it('add what is new, and go on where an export was interrupted', async () => {
    await worked();
    const first = told(await svc(['ledger', 'export', '--out', path]));
    expect(told(await svc(['ledger', 'export', '--out', path])).added).toBe(0);
    truncateSync(path, readFileSync(path).length - 100);
    expect(told(await svc(['ledger', 'export', '--out', path]))).toMatchObject({
      added: 1,
      head: first.head,
    });
    await worked();
    const later = told(await svc(['ledger', 'export', '--out', path]));
    expect(later.head.seq).toBe(first.head.seq + later.added);
    const { seq, hash } = first.head;
    expect(seq).toBeGreaterThan(0);
    const kept = await svc(['ledger', 'verify', '--file', path, '--head', hash], { offline: true });
    expect(kept.code).toBe(0);
    const gone = ['ledger', 'verify', '--file', path, '--head', 'f'.repeat(64)];
    expect((await svc(gone, { offline: true })).code).toBe(1);
  });

  it('refuse a file that is no ledger, of another project, or not there', async () => {
    appendFileSync(path, 'Hello.\n');
    const noLedger = await svc(['ledger', 'export', '--out', path]);
    expect([noLedger.code, readFileSync(path, 'utf8')]).toEqual([1, 'Hello.\n']);
    writeFileSync(path, '{"format":"svc-ledger-1","project":"prj_other"}\n');
    const other = await svc(['ledger', 'export', '--out', path]);
    expect([other.code, other.err]).toMatchObject([1, expect.stringContaining('OTHER_PROJECT')]);
    const nowhere = join(folder.path, 'nowhere');
    const missing = await svc(['ledger', 'verify', '--file', nowhere], { offline: true });
    expect([missing.code, missing.err]).toMatchObject([
      2,
      expect.stringContaining("can't be read"),
    ]);
    const id = `evt_${'0'.repeat(26)}`;
    await svc(['ledger', 'export', '--out', join(folder.path, 'fresh')]);
    const unknown = await svc(['story', id, '--file', join(folder.path, 'fresh')]);
    expect(unknown.code).toBe(3);
  });
});
