import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import {
  eachWithPeople,
  type TestPeople,
  refused,
  type Asked,
} from '../../../gateway/approvals/people.ts';

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
eachWithPeople((made) => ({ test, clock, people, owner } = made));

const policy = async () => (await test.call('GET', '/v1/policy')).body;
const iso = (ms: number): string => new Date(ms).toISOString();

// What is claimed to be sent is due later.
const queued = () =>
  people.project.store.read((store) => store.notices.due(clock.now() + 600_000, 1));

/** What was mailed since, once nothing more is queued. */
async function mailsSince(count: number): Promise<string[]> {
  await expect.poll(queued).toEqual([]);
  return mailsOf(test.folder).slice(count);
}

describe('without a policy', () => {
  it('a person decides everything', async () => {
    expect(await policy()).toEqual({
      version: 0,
      rules: [],
      note: null,
      approved_by: null,
      approved_at: null,
    });
    const { body } = await people.ask({ amount: 0.01, risk: 'low' });
    expect(body.status).toBe('pending');
    expect(await people.status(body.request_id)).toMatchObject({ policy_version: 0, rule: null });
  });
});

describe('a rule', () => {
  it.each([
    ['auto_approve', 'approved'],
    ['allow', 'approved'],
    ['deny', 'denied'],
  ])('%s answers %s at once, and asks nobody', async (effect, status) => {
    await people.setPolicy({ id: 'small', effect, action: 'deploy' });
    const before = (await mailsSince(0)).length;
    const { body } = await people.ask({ wait_seconds: 60, state_ref: 's' });
    const told = { status, decided_by: 'policy:small', decision: null, comment: null, hint: null };
    expect(body).toMatchObject({ ...told, state_ref: 's', poll_after_seconds: null });
    expect(await people.status(body.request_id)).toMatchObject({
      ...told,
      decided_at: iso(clock.now()),
      policy_version: 1,
      rule: 'small',
      approvers: [],
      notified: [],
    });
    const ended = { request_id: body.request_id, ...told };
    expect((await people.events('done')).at(-1)).toMatchObject(ended);
    expect(await mailsSince(before)).toEqual([]);
    const [entry] = await people.ledger('ask_approval');
    expect(entry).toMatchObject({ subject: body.request_id, outcome: 'ok' });
  });

  it('auto_approve_notify approves, and tells people in a letter without a link', async () => {
    await people.setPolicy({ id: 'told', effect: 'auto_approve_notify' });
    const before = (await mailsSince(0)).length;
    const { body } = await people.ask();
    expect(body).toMatchObject({ status: 'approved', decided_by: 'policy:told' });
    const mails = await mailsSince(before);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain('approved by policy: Deploy v2');
    expect(mails[0]).not.toMatch(/https?:/);
    const { notified } = await people.status(body.request_id);
    expect(notified).toMatchObject([{ channel_id: owner, kind: 'email', status: 'sent' }]);
  });

  it('require_approval asks a person', async () => {
    await people.setPolicy({ id: 'ask', effect: 'require_approval' }, { effect: 'deny' });
    const { body } = await people.ask();
    expect(body.status).toBe('pending');
    expect(await people.status(body.request_id)).toMatchObject({ rule: 'ask', decided_by: null });
    await people.decide(body.request_id, { verb: 'approve' });
    expect((await people.status(body.request_id)).decided_by).toBe(`channel:${owner}`);
  });

  it('matches on amounts that meet without a gap, and on none when there is none', async () => {
    await people.setPolicy(
      { id: 'low', effect: 'auto_approve', amount_lte: 100 },
      { id: 'high', effect: 'deny', amount_gt: 100 },
    );
    const of = async (amount?: number) => {
      const { body } = await people.ask(amount === undefined ? {} : { amount });
      return [body.status, body.decided_by];
    };
    expect(await of(100)).toEqual(['approved', 'policy:low']);
    expect(await of(100.000001)).toEqual(['denied', 'policy:high']);
    expect(await of(-1e308)).toEqual(['denied', 'policy:high']);
    expect(await of()).toEqual(['pending', null]);
  });

  it('decides before whatever else stands behind it', async () => {
    await people.setPolicy({ id: 'one', effect: 'deny' }, { id: 'two', effect: 'auto_approve' });
    expect((await people.ask()).body.decided_by).toBe('policy:one');
  });

  it('does not count against the requests that may be pending', async () => {
    await people.setPolicy({ effect: 'auto_approve', action: 'free' });
    for (let n = 0; n < 30; n += 1) await people.ask({ summary: `No ${n}` });
    expect(await people.ask()).toMatchObject(refused(429, 'TOO_MANY_PENDING_REQUESTS'));
    expect((await people.ask({ action: 'free' })).body.status).toBe('approved');
  });
});

const approversFor = async (body: Record<string, unknown> = {}) =>
  (await people.status(await people.asked(body))).approvers;

describe('who is asked under a rule', () => {
  let ana: string;
  let ben: string;
  beforeEach(async () => {
    ana = await people.activeChannel('ana@example.com', 'ana');
    ben = await people.activeChannel('ben@example.com', 'ben');
  });

  it('are its approvers, also where the request names others', async () => {
    await people.setPolicy({ effect: 'require_approval', approvers: [ana] });
    expect(await approversFor()).toEqual([ana]);
    expect(await approversFor({ approvers: [ben] })).toEqual([ana]);
  });

  it('are those of the request, or everybody, where it names none', async () => {
    await people.setPolicy({ effect: 'require_approval' });
    expect(await approversFor({ approvers: [ben] })).toEqual([ben]);
    expect(await approversFor()).toEqual([owner, ana, ben]);
  });

  it('are those still there, and the owner when none is', async () => {
    await people.setPolicy({ effect: 'require_approval', approvers: [ana, ben] });
    await people.removeChannel(ana);
    expect(await approversFor()).toEqual([ben]);
    await people.removeChannel(ben);
    expect(await approversFor()).toEqual([owner]);
    const id = await people.asked();
    expect((await people.decide(id, { verb: 'approve' }, owner))?.outcome).toBe('taken');
  });

  it('are told, too, of what it approved', async () => {
    await people.setPolicy({ effect: 'auto_approve_notify', approvers: [ben] });
    const { notified } = await people.status(await people.asked());
    expect(notified.map(({ channel_id }) => channel_id)).toEqual([ben]);
    await people.removeChannel(ben);
    const again = await people.status(await people.asked());
    expect(again.notified.map(({ channel_id }) => channel_id)).toEqual([owner]);
  });
});

const SMALL = { id: 'small', effect: 'auto_approve', amount_lte: 100 };

describe('policy_set', () => {
  it('changes nothing before a person has approved what the page shows', async () => {
    await people.setPolicy(SMALL);
    const asked = await people.propose([{ ...SMALL, amount_lte: 500 }], { note: 'More\nfreely.' });
    expect(asked).toMatchObject({ status: 200, body: { status: 'pending', warnings: [] } });
    const id = asked.body.request_id;
    expect(await policy()).toMatchObject({ version: 1 });
    const opened = await test.gateway.approvals.open(await people.link(id));
    expect(opened?.request).toMatchObject({
      kind: 'policy',
      risk: 'high',
      note: 'More\nfreely.',
      warnings: [],
      diff: [
        '- small: auto_approve when amount <= 100',
        '+ small: auto_approve when amount <= 500',
      ],
    });
    const page = await fetch(`${test.url}/a/${await people.link(id)}`);
    const html = await page.text();
    expect(html).toContain('amount &lt;= 500');
    clock.advance(1000);
    await people.decide(id, { verb: 'approve' });
    expect(await policy()).toEqual({
      version: 2,
      rules: [{ ...SMALL, amount_lte: 500 }],
      note: 'More\nfreely.',
      approved_by: `channel:${owner}`,
      approved_at: iso(clock.now()),
    });
    expect(await people.ledger('policy.applied')).toMatchObject([{ subject: id }, {}]);
    // What it changed can still be seen when it holds.
    const after = await test.gateway.approvals.open(await people.link(id));
    expect(after?.request.diff).toEqual(opened?.request.diff);
  });

  it('waits for the person, as any asking does', async () => {
    const proposing = people.propose([SMALL], { wait_seconds: 30 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const [row] = await people.project.store.read((store) => store.requests.pending(clock.now()));
    await people.decide(row?.id ?? '', { verb: 'approve', comment: 'fine' });
    expect((await proposing).body).toMatchObject({
      status: 'approved',
      comment: 'fine',
      warnings: [],
    });
  });

  it.each([
    [{ verb: 'deny', comment: 'no' }, 'denied'],
    [{ verb: 'needs_context', comment: 'why?' }, 'needs_context'],
  ] as const)('is not applied after %j', async (choice, status) => {
    const { body } = await people.propose([SMALL]);
    await people.decide(body.request_id, choice);
    expect(await people.status(body.request_id)).toMatchObject({ status, kind: 'policy' });
    expect(await policy()).toMatchObject({ version: 0, rules: [] });
    expect(await people.ledger('policy.applied')).toEqual([]);
  });

  it('is not applied after its time', async () => {
    const { body } = await people.propose([SMALL]);
    const token = await people.link(body.request_id);
    clock.advance(86_400_000);
    await test.gateway.approvals.decide(token, { verb: 'approve' });
    await people.maintenance();
    expect((await people.status(body.request_id)).status).toBe('expired');
    expect(await policy()).toMatchObject({ version: 0 });
  });

  it('proposed against a policy that holds no more is denied as superseded', async () => {
    const first = await people.propose([SMALL]);
    const second = await people.propose([{ effect: 'deny' }]);
    await people.decide(first.body.request_id, { verb: 'approve' });
    const token = await people.link(second.body.request_id);
    const shown = await test.gateway.approvals.open(token);
    expect(shown?.request.warnings).toEqual([
      expect.stringMatching(/^Another policy was approved since/),
    ]);
    expect(shown?.request.diff).toEqual(['+ rule-1: deny everything']);
    const done = await test.gateway.approvals.decide(token, { verb: 'approve', comment: 'fine' });
    expect(done).toMatchObject({ outcome: 'taken', opened: { request: { status: 'denied' } } });
    const told = {
      status: 'denied',
      hint: expect.stringMatching(/^superseded/),
      comment: 'fine',
      decided_by: `channel:${owner}`,
    };
    expect(await people.status(second.body.request_id)).toMatchObject(told);
    expect((await people.events()).at(-1)).toMatchObject(told);
    expect(await policy()).toMatchObject({ version: 1, rules: [SMALL] });
    // The page keeps saying why.
    expect((await test.gateway.approvals.open(token))?.request.warnings).toHaveLength(1);
  });

  it('of two that are approved at once applies one', async () => {
    const ids = [];
    for (const amount_lte of [1, 2, 3, 4]) {
      ids.push((await people.propose([{ ...SMALL, amount_lte }])).body.request_id);
    }
    const links = await Promise.all(ids.map((id) => people.link(id)));
    await Promise.all(
      links.map((link) => test.gateway.approvals.decide(link, { verb: 'approve' })),
    );
    const states = await Promise.all(ids.map(async (id) => (await people.status(id)).status));
    expect(states.toSorted()).toEqual(['approved', 'denied', 'denied', 'denied']);
    expect(await policy()).toMatchObject({ version: 1 });
    expect(await people.ledger('policy.applied')).toHaveLength(1);
  });

  it('a denied one stands in nobody’s way', async () => {
    const first = await people.propose([SMALL]);
    const second = await people.propose([{ ...SMALL, amount_lte: 5 }]);
    await people.decide(first.body.request_id, { verb: 'deny' });
    await people.decide(second.body.request_id, { verb: 'approve' });
    expect(await policy()).toMatchObject({ version: 1, rules: [{ amount_lte: 5 }] });
  });

  it('is never decided by the policy itself', async () => {
    await people.setPolicy({ effect: 'auto_approve' });
    const { body } = await people.propose([{ effect: 'auto_approve', action: 'policy_set' }]);
    expect(body.status).toBe('pending');
  });

  it('names rules that can never decide, to the agent and to people', async () => {
    const rules = [
      { id: 'all', effect: 'require_approval' },
      { id: 'never', effect: 'auto_approve', amount_lte: 5 },
    ];
    const { body } = await people.propose(rules);
    expect(body.warnings).toMatchObject([{ rule: 'never' }]);
    const opened = await test.gateway.approvals.open(await people.link(body.request_id));
    expect(opened?.request.warnings).toEqual([expect.stringContaining('never decides')]);
  });

  it('refuses a note that is too long, or holds what no text holds', async () => {
    for (const note of ['x'.repeat(501), 'a\0b']) {
      const bad = refused(400, 'VALIDATION_FAILED', { fields: [{ path: 'note' }] });
      expect(await people.propose([SMALL], { note })).toMatchObject(bad);
    }
    for (const note of ['x'.repeat(500), '']) {
      expect((await people.propose([SMALL], { note })).status).toBe(200);
    }
  });

  it('takes 200 rules, and shows every one of them', async () => {
    const rules = Array.from({ length: 200 }, (_, n) => ({
      id: `rule-${n}`,
      effect: 'auto_approve',
      action: `act.${n}`,
    }));
    const { body } = await people.propose(rules);
    const opened = await test.gateway.approvals.open(await people.link(body.request_id));
    expect(opened?.request.diff).toHaveLength(200);
    await people.decide(body.request_id, { verb: 'approve' });
    expect((await people.ask({ action: 'act.199' })).body.decided_by).toBe('policy:rule-199');
    const more = await people.propose([...rules, { effect: 'deny' }]);
    expect(more).toMatchObject(refused(400, 'POLICY_INVALID', { path: 'rules' }));
  });
});

const trial = (body: Record<string, unknown>) => test.call('POST', '/v1/policy/test', { body });

describe('policy_test and policy_diff', () => {
  it('say what would be decided and why, and change nothing', async () => {
    await people.setPolicy(SMALL);
    const passes = await trial({ action: 'pay', amount: 100 });
    expect(passes.body).toMatchObject({
      version: 1,
      effect: 'auto_approve',
      rule: 'small',
      trace: [{ rule: 'small', matched: true, decides: true, failed: [] }],
    });
    const fails = await trial({ action: 'pay', amount: 101 });
    expect(fails.body).toMatchObject({
      effect: 'require_approval',
      rule: null,
      trace: [{ matched: false, failed: [{ field: 'amount_lte' }] }],
    });
    const other = await trial({ tool: 'file_url', policy: { rules: [{ effect: 'deny' }] } });
    expect(other.body).toMatchObject({ version: null, effect: 'deny', rule: 'rule-1' });
    const diff = await test.call('POST', '/v1/policy/diff', { body: { policy: { rules: [] } } });
    expect(diff.body).toEqual({
      version: 1,
      changed: true,
      lines: ['- small: auto_approve when amount <= 100'],
      warnings: [],
    });
    const same = await test.call('POST', '/v1/policy/diff', {
      body: { policy: { rules: [SMALL] } },
    });
    expect(same.body).toMatchObject({ changed: false });
    expect(await policy()).toMatchObject({ version: 1 });
    const { body } = await test.call<{ items: Asked[] }>('GET', '/v1/requests?status=pending');
    expect(body.items).toEqual([]);
  });
});
