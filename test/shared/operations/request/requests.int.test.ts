import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import {
  eachWithPeople,
  type TestPeople,
  refused,
  type Asked,
} from '../../../gateway/approvals/people.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const ID = expect.stringMatching(/^req_[0-9a-z]{26}$/);
const OPEN_ANEW: unknown = expect.stringContaining('open a new one');
const iso = (ms: number): string => new Date(ms).toISOString();

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;

eachWithPeople((made) => ({ test, clock, people, owner } = made));

describe('ask_approval', () => {
  it('that nobody has decided says that this is no denial, and when to look again', async () => {
    const asked = await people.ask({ state_ref: 'task-7' });
    expect(asked.status).toBe(200);
    expect(asked.body).toEqual({
      request_id: ID,
      status: 'pending',
      decision: null,
      comment: null,
      hint: expect.stringMatching(/This isn't a denial.*\/v1\/state\/.*\/v1\/requests\//),
      reason: null,
      decided_by: null,
      state_ref: 'task-7',
      expires_at: iso(clock.now() + DAY),
      poll_after_seconds: 30,
    });
    expect(await people.events()).toEqual([]);
  });

  it('is decided by the owner through the link of a mail', async () => {
    const id = await people.asked();
    const token = await people.link(id);
    const page = await fetch(`${test.url}/a/${token}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Deploy v2');
    expect((await people.status(id)).status).toBe('pending');
  });

  it.each([
    [{ verb: 'approve' }, 'approved', null, null],
    [{ verb: 'approve', comment: ' go ' }, 'approved', null, 'go'],
    [{ verb: 'deny', comment: 'no' }, 'denied', null, 'no'],
    [{ verb: 'deny' }, 'denied', null, null],
    [{ verb: 'option', index: 1, comment: 'safer' }, 'modified', 'canary', 'safer'],
    [{ verb: 'needs_context', comment: 'why?' }, 'needs_context', null, 'why?'],
  ] as const)('answers %j as %s', async (choice, status, decision, comment) => {
    const body = { options: ['half', 'canary'], state_ref: 's' };
    const { body: asked } = await people.ask(body, { once: 'a' });
    const id = asked.request_id;
    clock.advance(MINUTE);
    expect((await people.decide(id, choice))?.outcome).toBe('taken');
    const { body: answer } = await people.ask(body, { once: 'a' });
    const hint = status === 'needs_context' ? OPEN_ANEW : null;
    const told = { status, decision, comment, hint, decided_by: `channel:${owner}` };
    expect(answer).toEqual({
      request_id: id,
      ...told,
      reason: null,
      state_ref: 's',
      expires_at: iso(clock.now() - MINUTE + DAY),
      poll_after_seconds: null,
    });
    expect(await people.status(id)).toMatchObject({ ...told, decided_at: iso(clock.now()) });
    expect(await people.events()).toMatchObject([{ request_id: id, ...told, state_ref: 's' }]);
    expect(await people.ledger('request.decided')).toMatchObject([{ subject: id }]);
  });

  it('is shown whole by request_status, without an address', async () => {
    const body = {
      action: 'payment.refund',
      summary: 'Refund order 1042',
      details: 'Charged\ntwice.',
      risk: 'high',
      amount: 129.5,
      options: ['half'],
      expires_in: '90m',
      state_ref: '{"step":3}',
    };
    const headers = { 'x-service-agent': 'refund-bot' };
    const asked = await test.call<Asked>('POST', '/v1/requests', {
      body: { ...body, wait_seconds: 0 },
      headers,
    });
    const { expires_in: _, ...shown } = body;
    const me = await test.call<{ key: { id: string } }>('GET', '/v1/whoami');
    await people.link(asked.body.request_id);
    await expect
      .poll(async () => (await people.status(asked.body.request_id)).notified[0]?.status)
      .toBe('sent');
    expect(await people.status(asked.body.request_id)).toEqual({
      request_id: asked.body.request_id,
      kind: 'approval',
      status: 'pending',
      ...shown,
      warnings: [],
      question: null,
      decision: null,
      comment: null,
      hint: expect.any(String),
      reason: null,
      decided_by: null,
      decided_at: null,
      created_at: iso(clock.now()),
      expires_at: iso(clock.now() + 90 * MINUTE),
      requested_by: { key_id: me.body.key.id, agent: 'refund-bot', platform: expect.any(String) },
      approvers: [owner],
      notified: [{ channel_id: owner, kind: 'email', status: 'sent', at: iso(clock.now()) }],
      policy_version: 0,
      rule: null,
      callback_url: null,
      event_id: null,
      reply_to_event: null,
      thread: null,
      lasts_until: null,
      bind: null,
      spent_at: null,
      spent_by: null,
      approvals: { needed: 1, given: [] },
    });
  });

  it('asks the named channels once each, and nobody else', async () => {
    const more = await people.activeChannel('ana@example.com');
    const before = mailsOf(test.folder).length;
    const id = await people.asked({ approvers: [more, more] });
    await people.link(id, more);
    const { approvers, notified } = await people.status(id);
    expect(approvers).toEqual([more]);
    expect(notified.map(({ channel_id }) => channel_id)).toEqual([more]);
    expect(mailsOf(test.folder)).toHaveLength(before + 1);
    const everybody = await people.status(await people.asked());
    expect(everybody.approvers).toEqual([owner, more]);
  });
});

describe('a link', () => {
  it('still shows the request when it is decided, and who did, and decides nothing', async () => {
    const id = await people.asked();
    const token = await people.link(id);
    clock.advance(MINUTE);
    await people.decide(id, { verb: 'deny', comment: 'not today' });
    clock.advance(30 * DAY);
    const shown = {
      status: 'denied',
      decidedBy: 'owner',
      decidedAt: clock.now() - 30 * DAY,
      comment: 'not today',
    };
    expect((await test.gateway.approvals.open(token))?.request).toMatchObject(shown);
    const late = await test.gateway.approvals.decide(token, { verb: 'approve' });
    expect(late).toMatchObject({ outcome: 'late', opened: { request: shown } });
    expect(await people.status(id)).toMatchObject({ status: 'denied', comment: 'not today' });
    expect(await people.events()).toHaveLength(1);
  });

  it('is another for each channel, with the same fingerprint, and one that is none opens nothing', async () => {
    const ana = await people.activeChannel('ana@example.com');
    const id = await people.asked();
    const links = [await people.link(id, owner), await people.link(id, ana)];
    const opened = await Promise.all(links.map((link) => test.gateway.approvals.open(link)));
    expect(opened.map((one) => one?.channel.id)).toEqual([owner, ana]);
    expect(new Set(opened.map((one) => one?.request.fingerprint)).size).toBe(1);
    const [link = ''] = links;
    const other = link.slice(0, -1) + (link.endsWith('a') ? 'b' : 'a');
    for (const none of ['', 'x', other, `${link}x`, link.toUpperCase(), `prj_${link}`]) {
      expect(await test.gateway.approvals.open(none)).toBeNull();
      expect(await test.gateway.approvals.decide(none, { verb: 'approve' })).toBeNull();
      expect(await test.gateway.approvals.verifyEmail(none)).toBeNull();
    }
  });
});

describe('time', () => {
  it('ends a request as expired, which is not approved and not denied either', async () => {
    const end = clock.now() + MINUTE;
    const id = await people.asked({ expires_in: '1m' });
    clock.advance(MINUTE - 1);
    expect((await people.status(id)).status).toBe('pending');
    clock.advance(1);
    const seen = await people.status(id);
    const expired = {
      status: 'expired',
      decision: null,
      comment: null,
      decided_by: null,
      decided_at: iso(end),
      hint: "Nobody decided in time, so it isn't approved.",
    };
    expect(seen).toMatchObject(expired);
    clock.advance(MINUTE);
    await people.maintenance();
    // Writing it down late changes nothing in what is seen.
    const { notified, ...before } = seen;
    const { notified: after, ...now } = await people.status(id);
    expect(now).toEqual(before);
    expect(after).toHaveLength(notified.length);
  });

  it('is written down once, with one event and one entry in the ledger', async () => {
    const ids = [await people.asked({ expires_in: '1m' }), await people.asked({ question: 'q?' })];
    const [id] = ids;
    clock.advance(MINUTE);
    expect(await people.events()).toEqual([]);
    for (let round = 0; round < 3; round += 1) await people.maintenance();
    expect(await people.events()).toMatchObject([{ request_id: id, status: 'expired' }]);
    expect(await people.ledger('request.expired')).toMatchObject([{ subject: id }]);
    expect(await people.ledger('request.decided')).toEqual([]);
  });

  it('is quicker than a decision that comes after it, written down or not', async () => {
    const id = await people.asked({ expires_in: '1m' });
    const token = await people.link(id);
    clock.advance(MINUTE);
    const late = await test.gateway.approvals.decide(token, { verb: 'approve' });
    expect(late).toMatchObject({ outcome: 'late', opened: { request: { status: 'expired' } } });
    // Too late comes before all else that is wrong with a choice.
    const wrong = await test.gateway.approvals.decide(token, { verb: 'option', index: 9 });
    expect(wrong?.outcome).toBe('late');
    await people.maintenance();
    expect((await test.gateway.approvals.decide(token, { verb: 'approve' }))?.outcome).toBe('late');
    expect((await people.status(id)).status).toBe('expired');
    expect(await people.ledger('request.decided')).toEqual([]);
  });

  it('is not quicker by a millisecond than it may be', async () => {
    const id = await people.asked({ expires_in: '1m' });
    const token = await people.link(id);
    clock.advance(MINUTE - 1);
    const done = await test.gateway.approvals.decide(token, { verb: 'approve' });
    expect(done?.outcome).toBe('taken');
    clock.advance(MINUTE);
    await people.maintenance();
    expect((await people.status(id)).status).toBe('approved');
    expect(await people.events()).toMatchObject([{ status: 'approved' }]);
  });
});

describe('a request repeated under an Idempotency-Key', () => {
  it('is one request with one mail, and once decided it answers the decision', async () => {
    const first = await people.ask({}, { once: 'same' });
    const again = await people.ask({}, { once: 'same' });
    expect(again.body).toEqual(first.body);
    const id = first.body.request_id;
    await people.decide(id, { verb: 'deny', comment: 'not today' });
    expect(mailsOf(test.folder)).toHaveLength(1);
    const decided = await people.ask({}, { once: 'same' });
    expect(decided.body).toMatchObject({ request_id: id, status: 'denied', comment: 'not today' });
    const other = await people.ask({}, { once: 'other' });
    expect(other.body.request_id).not.toBe(id);
    expect(await people.ledger('ask_approval')).toHaveLength(2);
  });

  it('answers that it has expired, too', async () => {
    await people.ask({ expires_in: '1m' }, { once: 'same' });
    clock.advance(MINUTE);
    expect((await people.ask({ expires_in: '1m' }, { once: 'same' })).body.status).toBe('expired');
  });
});

const list = async (query = '') => {
  const answer = await test.call<{ items: Asked[]; next_cursor: string | null }>(
    'GET',
    `/v1/requests${query}`,
  );
  return answer.body;
};
const ids = async (query: string) => (await list(query)).items.map((one) => one.request_id);

describe('request_list', () => {
  it('has the newest first, in pages', async () => {
    const all: string[] = [];
    for (let n = 0; n < 5; n += 1) all.unshift(await people.asked({ summary: `No ${n}` }));
    expect(await ids('')).toEqual(all);
    const first = await list('?limit=2');
    expect(first.items.map((one) => one.request_id)).toEqual(all.slice(0, 2));
    const second = await list(`?limit=2&cursor=${first.next_cursor}`);
    const third = await list(`?limit=2&cursor=${second.next_cursor}`);
    expect(second.items.map((one) => one.request_id)).toEqual(all.slice(2, 4));
    expect(third.items.map((one) => one.request_id)).toEqual(all.slice(4));
    expect(third.next_cursor).toBeNull();
    expect((await list('?limit=5')).next_cursor).toBeNull();
    expect(await test.call('GET', '/v1/requests?cursor=zzz')).toMatchObject(
      refused(400, 'VALIDATION_FAILED', { fields: [{ path: 'cursor' }] }),
    );
  });

  it('knows by status also what has expired and was not written down', async () => {
    const short = await people.asked({ expires_in: '1m' });
    const long = await people.asked();
    const denied = await people.asked();
    await people.decide(denied, { verb: 'deny' });
    const states = async () => ({
      pending: await ids('?status=pending'),
      expired: await ids('?status=expired'),
      denied: await ids('?status=denied'),
    });
    expect(await states()).toEqual({ pending: [long, short], expired: [], denied: [denied] });
    clock.advance(MINUTE);
    const later = { pending: [long], expired: [short], denied: [denied] };
    expect(await states()).toEqual(later);
    await people.maintenance();
    expect(await states()).toEqual(later);
    expect(await ids('?status=answered')).toEqual([]);
    expect((await test.call('GET', '/v1/requests?status=other')).status).toBe(400);
  });
});

async function anotherKey(): Promise<string> {
  const body = { name: 'other', scopes: ['approvals'] };
  return (await test.call<{ api_key: string }>('POST', '/v1/keys', { body })).body.api_key;
}

describe('the 51st request', () => {
  it('is refused whatever it asks for, until one of the 50 is over', async () => {
    const key = await anotherKey();
    await test.call('PUT', '/v1/files/a', {
      body: { content_base64: 'aGVsbG8K' },
      headers: { 'content-type': 'application/vnd.service.upload+json' },
    });
    const link = (expires_in: number) =>
      test.call<Asked>('POST', '/v1/file-urls', {
        body: { path: 'a', expires_in, wait_seconds: 0 },
      });
    const kinds = [
      (n: number) => people.ask({ summary: `No ${n}` }),
      (n: number) => people.ask({ question: `No ${n}?` }),
      (n: number) => people.propose([{ effect: 'deny', action: `no.${n}` }]),
      (n: number) => link(60 + n),
    ];
    const first = await people.asked({ expires_in: '1m' });
    const second = await people.asked();
    for (let n = 0; n < 22; n += 1) {
      expect((await people.ask({ summary: `Other ${n}` }, { key })).body.status).toBe('pending');
    }
    for (let n = 2; n < 28; n += 1) {
      const answer = await kinds[n % kinds.length]?.(n);
      expect(answer?.body.status).toBe('pending');
    }
    const full = refused(429, 'TOO_MANY_PENDING_REQUESTS', {
      limit: 50,
      used: 50,
      of: 'project',
    });
    for (const kind of kinds) expect(await kind(99)).toMatchObject(full);
    // The same link again is no further request.
    expect((await link(63)).status).toBe(200);
    await people.decide(second, { verb: 'deny' });
    expect((await people.ask()).status).toBe(200);
    expect(await people.ask()).toMatchObject(full);
    clock.advance(MINUTE);
    expect((await people.status(first)).status).toBe('expired');
    expect((await people.ask()).status).toBe(200);
    expect(await people.ask()).toMatchObject(full);
  });
});
