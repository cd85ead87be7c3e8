import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { eachWithPeople, refused, type TestPeople } from '../../../gateway/approvals/people.ts';

interface Answer {
  readonly status?: string;
  readonly acked_at?: string;
  readonly lease_id?: string;
  readonly spent_at?: string | null;
  readonly spent_by?: string | null;
  readonly result?: unknown;
  readonly bind?: unknown;
  readonly resumed?: { state: unknown };
  readonly api_key?: string;
  readonly id?: string;
  readonly error?: { code: string; details?: { reason?: string } };
}

const HOUR_MS = 3_600_000;
const VALUES = { pr: 7, sha: '3f2a', amount: 1.5 };

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let url: string;
let deliveries = 0;
eachWithPeople(async (made) => {
  ({ test, clock, people } = made);
  url = await test.addSource({ name: 'open' });
});

const post = (path: string, body: unknown, key?: string) =>
  test.call<Answer>('POST', path, { body, ...(key !== undefined && { key }) });
const ack = (body: Record<string, unknown>, key?: string) => post('/v1/inbox/ack', body, key);
const use = (id: string, body: Record<string, unknown> = {}, key?: string) =>
  post(`/v1/requests/${id}/use`, body, key);
const request = async (id: string) => (await test.call<Answer>('GET', `/v1/requests/${id}`)).body;
const event = async (id: string) => (await test.call<Answer>('GET', `/v1/inbox/events/${id}`)).body;

/** Posts a text as it stands, with numbers that JSON.parse would change. */
async function send(path: string, body: string) {
  const headers = { authorization: `Bearer ${test.apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(test.url + path, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> };
}

async function claimed(): Promise<string> {
  deliveries += 1;
  const { event_id } = (await test.deliver(url, `{"n":${deliveries}}`)).body;
  await post('/v1/inbox/claim', { event_id });
  return String(event_id);
}

/** A claimed event, and a question about it that a person decided. */
async function decided(
  more: Record<string, unknown> = { bind: VALUES },
  choice: Parameters<TestPeople['decide']>[1] = { verb: 'approve' },
) {
  const event_id = await claimed();
  const spends = await people.asked({ event_id, ...more });
  await people.decide(spends, choice);
  return { event_id, spends };
}

const misfit = (reason: string) => ({
  status: 409,
  body: { error: { code: 'APPROVAL_NOT_APPLICABLE', details: { reason } } },
});

async function opsOf(subject: string): Promise<string[]> {
  const { body } = await test.call<{ items: { op: string; outcome: string }[] }>(
    'GET',
    `/v1/ledger?subject=${subject}`,
  );
  return body.items.map(({ op, outcome }) => (outcome === 'ok' ? op : `${op}!`)).toReversed();
}

describe('inbox_ack with spends', () => {
  it('finishes the event and uses the approval in one step', async () => {
    const { event_id, spends } = await decided();
    expect(await request(spends)).toMatchObject({ spent_at: null, spent_by: null });
    const answer = await ack({ event_id, spends, bind: VALUES, result: 'merged 3f2a' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(await event(event_id)).toMatchObject({ status: 'done', result: 'merged 3f2a' });
    expect(await request(spends)).toMatchObject({
      spent_at: answer.body.acked_at,
      spent_by: event_id,
    });
    expect(await opsOf(spends)).toEqual(['ask_approval', 'request.decided', 'approval.spent']);
  });

  it('answers the same when it is called again, also a day later', async () => {
    const { event_id, spends } = await decided();
    const first = await ack({ event_id, spends, bind: VALUES });
    clock.advance(30 * HOUR_MS);
    expect((await ack({ event_id, spends, bind: VALUES })).body).toEqual(first.body);
    expect(await people.ledger('approval.spent')).toHaveLength(1);
    expect(await ack({ event_id, spends, bind: { pr: 8 } })).toMatchObject(misfit('other_values'));
  });

  it('takes the values in any order, and an option that the person chose', async () => {
    const choice = { verb: 'option', index: 0 } as const;
    const { event_id, spends } = await decided({ bind: VALUES, options: ['tonight'] }, choice);
    const bind = { sha: '3f2a', amount: 1.5, pr: 7 };
    expect(await ack({ event_id, spends, bind })).toMatchObject({ status: 200 });
  });

  it.each([
    ['one byte less', { ...VALUES, sha: '3f2' }],
    ['another case', { ...VALUES, sha: '3F2a' }],
    ['one value more', { ...VALUES, force: true }],
    ['a text for a number', { ...VALUES, pr: '7' }],
    ['none', undefined],
    ['null', null],
  ])('refuses other values than the person saw: %s', async (_name, bind) => {
    const { event_id, spends } = await decided();
    expect(await ack({ event_id, spends, bind })).toMatchObject(misfit('other_values'));
    expect(await event(event_id)).toMatchObject({ status: 'claimed', result: null });
    expect(await request(spends)).toMatchObject({ spent_at: null });
  });

  it('tells numbers apart that JSON.parse would make equal', async () => {
    const event_id = await claimed();
    const text = `{"event_id":"${event_id}","action":"pay","summary":"Pay","wait_seconds":0,"bind":{"n":12345678901234567891}}`;
    const spends = String((await send('/v1/requests', text)).body['request_id']);
    await people.decide(spends, { verb: 'approve' });
    const ackText = (n: string) =>
      `{"event_id":"${event_id}","spends":"${spends}","bind":{"n":${n}}}`;
    const other = await send('/v1/inbox/ack', ackText('12345678901234567890'));
    expect(other).toMatchObject(misfit('other_values'));
    const same = await send('/v1/inbox/ack', ackText('12345678901234567891'));
    expect(same.status).toBe(200);
  });

  it.each([
    ['20', '20.0', true],
    ['1.10', '1.1', true],
    ['1e2', '100', true],
    ['-0', '0', true],
    ['1234567890123456789012', '1234567890123456789012.0', true],
    ['1234567890123456789012', '123456789012345678901.2e1', true],
    ['1234567890123456789012', '1234567890123456789013', false],
    ['0.1', '0.10000000000000001', false],
    ['20', '-20', false],
    ['20', '"20"', false],
    ['"20.0"', '"20"', false],
  ])('compares numbers by what they say: %s and %s', async (bound, used, fits) => {
    const event_id = await claimed();
    const bind = `[{"n":${bound}},"x"]`;
    const text = `{"event_id":"${event_id}","action":"pay","summary":"Pay","wait_seconds":0,"bind":${bind}}`;
    const { body } = await send('/v1/requests', text);
    const spends = String(body['request_id']);
    const asked = await send('/v1/requests', text.replace(bind, `[{"n":${used}},"x"]`));
    expect(asked.body['request_id'] === spends).toBe(fits);
    if (!fits) return;
    await people.decide(spends, { verb: 'approve' });
    const act = `{"event_id":"${event_id}","spends":"${spends}","bind":[{"n":${used}},"x"]}`;
    expect((await send('/v1/inbox/ack', act)).status).toBe(200);
  });

  it('refuses values that nobody was shown', async () => {
    const { event_id, spends } = await decided({});
    expect(await ack({ event_id, spends, bind: VALUES })).toMatchObject(misfit('other_values'));
    expect(await ack({ event_id, spends })).toMatchObject({ status: 200 });
  });

  it('refuses what nobody approved', async () => {
    const denied = await decided({ bind: VALUES }, { verb: 'deny' });
    expect(await ack({ ...denied, bind: VALUES })).toMatchObject(misfit('not_approved'));
    const answered = await decided({ question: 'Where?' }, { verb: 'answer', text: 'here' });
    expect(await ack(answered)).toMatchObject(misfit('not_approved'));
    const event_id = await claimed();
    const spends = await people.asked({ event_id, expires_in: '1h' });
    expect(await ack({ event_id, spends })).toMatchObject(misfit('not_approved'));
    expect(await people.status(spends)).toMatchObject({ status: 'pending' });
    clock.advance(HOUR_MS);
    await post('/v1/inbox/claim', { event_id });
    expect(await ack({ event_id, spends })).toMatchObject(misfit('not_approved'));
  });

  it('refuses an approval of another event, or of none', async () => {
    const { spends } = await decided();
    const event_id = await claimed();
    expect(await ack({ event_id, spends, bind: VALUES })).toMatchObject(misfit('other_event'));
    const loose = await people.asked({ bind: VALUES });
    await people.decide(loose, { verb: 'approve' });
    const body = { event_id, spends: loose, bind: VALUES };
    expect(await ack(body)).toMatchObject(misfit('other_event'));
  });

  it('refuses an approval that was used, or that is a day old', async () => {
    const used = await decided();
    await use(used.spends, { bind: VALUES });
    expect(await ack({ ...used, bind: VALUES })).toMatchObject(misfit('spent'));
    const old = await decided();
    clock.advance(24 * HOUR_MS);
    await post('/v1/inbox/claim', { event_id: old.event_id });
    expect(await ack({ ...old, bind: VALUES })).toMatchObject(misfit('expired'));
    expect(await opsOf(old.event_id)).toContain('inbox_ack!');
  });

  it('is in time a moment before', async () => {
    const { event_id, spends } = await decided();
    clock.advance(24 * HOUR_MS - 1);
    await post('/v1/inbox/claim', { event_id });
    expect(await ack({ event_id, spends, bind: VALUES })).toMatchObject({ status: 200 });
  });

  it("doesn't use an approval for an event that was finished without it", async () => {
    const { event_id, spends } = await decided();
    await ack({ event_id });
    const late = await ack({ event_id, spends, bind: VALUES });
    expect(late).toMatchObject(refused(409, 'EVENT_NOT_CLAIMABLE'));
    expect(await request(spends)).toMatchObject({ spent_at: null });
  });

  it('is for the holder of the lease', async () => {
    const { event_id, spends } = await decided();
    const key = await test.key('inbox:write');
    const body = { event_id, spends, bind: VALUES };
    expect(await ack(body, key)).toMatchObject(refused(409, 'LEASE_NOT_HELD'));
    expect(await request(spends)).toMatchObject({ spent_at: null });
  });

  it('knows no request of another project', async () => {
    const second = await test.gateway.createProject({ name: 'Second', slug: 'second' });
    const theirs = await people.ask({}, { key: second.apiKey });
    const event_id = await claimed();
    const answer = await ack({ event_id, spends: theirs.body.request_id });
    expect(answer).toMatchObject(refused(404, 'NOT_FOUND'));
  });

  it('wants an approval for values', async () => {
    const answer = await ack({ event_id: await claimed(), bind: VALUES });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED'));
  });
});

describe('64 uses of an approval at once', () => {
  it('are one use and 63 refusals', async () => {
    const { spends } = await decided();
    const tries = Array.from({ length: 64 }, () => use(spends, { bind: VALUES }));
    const answers = await Promise.all(tries);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    for (const other of others) expect(other).toMatchObject(misfit('spent'));
    expect(await people.ledger('approval.spent')).toHaveLength(1);
  });

  it('are one use, by acks and request_use in any mixture', async () => {
    const { event_id, spends } = await decided();
    const tries = Array.from({ length: 64 }, (_, index) =>
      index % 2 === 0 ? use(spends, { bind: VALUES }) : ack({ event_id, spends, bind: VALUES }),
    );
    const done = (await Promise.all(tries)).filter(({ status }) => status === 200);
    const { spent_by } = await request(spends);
    // Acks may all succeed: they're one ack, repeated.
    expect(done).toHaveLength(spent_by === event_id ? 32 : 1);
    expect(await people.ledger('approval.spent')).toHaveLength(1);
  });
});

describe('request_use', () => {
  it('uses an approval once, without an event too', async () => {
    const id = await people.asked({ bind: VALUES });
    await people.decide(id, { verb: 'approve', comment: 'go' });
    const { body } = await use(id, { bind: VALUES });
    expect(body).toMatchObject({ status: 'approved', comment: 'go' });
    expect(await request(id)).toMatchObject({ spent_at: body.spent_at, spent_by: body.spent_by });
    expect(body.spent_by).toMatch(/^key_/);
    expect(await use(id, { bind: VALUES })).toMatchObject(misfit('spent'));
    expect(await opsOf(id)).toEqual([
      'ask_approval',
      'request.decided',
      'approval.spent',
      'request_use',
      'request_use!',
    ]);
  });

  it('is for the key that asked, the one at work on the event, and admins', async () => {
    const other = await test.key('approvals', 'inbox:write');
    const { event_id, spends } = await decided();
    expect(await use(spends, { bind: VALUES }, other)).toMatchObject(misfit('other_key'));
    await post('/v1/inbox/nack', { event_id, until: ['now'] });
    await post('/v1/inbox/claim', { event_id }, other);
    expect(await use(spends, { bind: VALUES }, other)).toMatchObject({ status: 200 });
    const admin = await test.key('admin', 'approvals');
    const next = await decided();
    expect(await use(next.spends, { bind: VALUES }, admin)).toMatchObject({ status: 200 });
  });

  it('refuses an approval whose person was told that it came too late', async () => {
    const { spends } = await decided();
    await post(`/v1/requests/${spends}/received`, { unused: 'it was done by hand.' });
    expect(await use(spends, { bind: VALUES })).toMatchObject(misfit('unused'));
    expect(await request(spends)).toMatchObject({ spent_at: null, reason: 'unused' });
  });

  it('refuses other values, what is old, and what nobody approved', async () => {
    const { spends } = await decided();
    expect(await use(spends, {})).toMatchObject(misfit('other_values'));
    clock.advance(24 * HOUR_MS);
    expect(await use(spends, { bind: VALUES })).toMatchObject(misfit('expired'));
    const denied = await decided({}, { verb: 'deny' });
    expect(await use(denied.spends)).toMatchObject(misfit('not_approved'));
    const nobody = await use('req_00000000000000000000000000');
    expect(nobody).toMatchObject(refused(404, 'NOT_FOUND'));
  });

  it('takes what the policy allowed', async () => {
    await people.setPolicy({ id: 'docs', effect: 'allow', action: ['pr.*'] });
    const event_id = await claimed();
    const spends = await people.asked({ event_id, action: 'pr.merge', bind: VALUES });
    expect(await ack({ event_id, spends, bind: VALUES })).toMatchObject({ status: 200 });
    expect(await opsOf(spends)).toEqual(['request.decided', 'ask_approval', 'approval.spent']);
  });
});

it('the state of a parked event keeps its numbers as they were written', async () => {
  const event_id = await claimed();
  const raw = `{"event_id":"${event_id}","question":"Go on?","wait_seconds":0,"park":true,"state":{"n":12345678901234567891}}`;
  const asked = await send('/v1/requests', raw);
  await people.decide(String(asked.body['request_id']), { verb: 'answer', text: 'yes' });
  const claim = await send('/v1/inbox/claim', JSON.stringify({ event_id }));
  expect(claim.text).toContain('12345678901234567891');
});
