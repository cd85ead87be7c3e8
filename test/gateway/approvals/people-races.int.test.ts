import { describe, expect, it } from 'vitest';
import type { Choice } from '../../../gateway/approvals/approvals.ts';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { writerOf } from '../../helpers/writers.ts';
import { eachWithPeople, type TestPeople } from './people.ts';

const MINUTE = 60_000;

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
eachWithPeople((made) => ({ test, clock, people, owner } = made));

const CHOICES: readonly Choice[] = [
  { verb: 'approve', comment: 'yes' },
  { verb: 'deny', comment: 'no' },
  { verb: 'option', index: 0, comment: 'half' },
  { verb: 'needs_context', comment: 'why?' },
];

describe('20 decisions at once', () => {
  it('are one decision, one event and one entry, whoever comes first', async () => {
    const others = [
      await people.activeChannel('ana@example.com', 'ana'),
      await people.activeChannel('ben@example.com', 'ben'),
    ];
    const channels = [owner, ...others];
    for (let round = 0; round < 5; round += 1) {
      const { body } = await people.ask({ options: ['half'] }, { once: `round ${round}` });
      const id = body.request_id;
      const links = await Promise.all(channels.map((channel) => people.link(id, channel)));
      const decisions = await Promise.all(
        Array.from({ length: 20 }, (_, n) => {
          const nth = n + round;
          const choice = CHOICES[nth % CHOICES.length] ?? { verb: 'deny' };
          return test.gateway.approvals.decide(links[nth % links.length] ?? '', choice);
        }),
      );
      const taken = decisions.filter((one) => one?.outcome === 'taken');
      expect(taken).toHaveLength(1);
      expect(decisions.filter((one) => one?.outcome === 'late')).toHaveLength(19);
      const stands = await people.status(id);
      // All are shown the one that stands.
      for (const one of decisions) {
        const { status, decision, comment } = stands;
        expect(one?.opened.request).toMatchObject({ status, decision, comment });
      }
      const by = `channel:${taken[0]?.opened.channel.id}`;
      expect(stands.decided_by).toBe(by);
      const events = (await people.events()).filter(({ request_id }) => request_id === id);
      expect(events).toMatchObject([{ status: stands.status, decided_by: by }]);
      const entries = await people.ledger('request.decided');
      expect(entries.filter(({ subject }) => subject === id)).toHaveLength(1);
    }
  });

  it('leave a digest in the ledger that tells one decision from another', async () => {
    for (const comment of ['one', 'two']) {
      await people.decide(await people.asked(), { verb: 'approve', comment });
    }
    const digests = (await people.ledger('request.decided')).map((entry) => entry['input_digest']);
    expect(new Set(digests).size).toBe(2);
    for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const verified = await test.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });
});

describe('a row', () => {
  it('takes one end, and none but expired behind its time', async () => {
    const [first, second] = [await people.asked(), await people.asked({ expires_in: '1m' })];
    const end = (id: string, status: string, at: number) =>
      writerOf(people.project).write(({ requests }) =>
        requests.end(id, {
          status,
          at,
          decision: null,
          comment: null,
          hint: null,
          decidedBy: null,
          lastsUntil: null,
        }),
      );
    const now = clock.now();
    expect(await end(first, 'approved', now)).toBe(true);
    for (const status of ['denied', 'approved', 'expired']) {
      expect(await end(first, status, now)).toBe(false);
    }
    expect(await end(second, 'approved', now + MINUTE)).toBe(false);
    expect(await end(second, 'expired', now + MINUTE)).toBe(true);
    expect(await end(second, 'approved', now)).toBe(false);
    expect((await people.status(first)).status).toBe('approved');
  });
});

describe('a decision and the end of the time', () => {
  it('at once are one of the two', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await people.asked({ expires_in: '1m' });
      const link = await people.link(id);
      clock.advance(MINUTE - 1);
      const deciding = test.gateway.approvals.decide(link, { verb: 'approve' });
      clock.advance(1);
      const [decided] = await Promise.all([deciding, people.maintenance(), people.maintenance()]);
      const { status } = await people.status(id);
      expect(status).toBe(decided?.outcome === 'taken' ? 'approved' : 'expired');
      const events = (await people.events()).filter(({ request_id }) => request_id === id);
      expect(events).toMatchObject([{ status }]);
    }
  });
});

describe('a decision and the removal of its channel', () => {
  it('at once leave either a decision, or a question to the owner', async () => {
    for (let round = 0; round < 6; round += 1) {
      const ana = await people.activeChannel(`ana${round}@example.com`, 'ana');
      const id = await people.asked({ approvers: [ana] });
      const link = await people.link(id, ana);
      const decide = () => test.gateway.approvals.decide(link, { verb: 'approve' });
      const remove = () => people.removeChannel(ana);
      const [decided] =
        round % 2 === 0
          ? await Promise.all([decide(), remove()])
          : await Promise.all([remove(), decide()]).then(([, one]) => [one]);
      const { status, approvers, decided_by } = await people.status(id);
      const won =
        decided === null ? ['pending', [owner], null] : ['approved', [ana], `channel:${ana}`];
      // Decided and removed before the answer was made up: it stands, though its link is dead.
      const lost = ['approved', [ana], `channel:${ana}`];
      expect([won, lost]).toContainEqual([status, approvers, decided_by]);
      expect(await test.gateway.approvals.open(link)).toBeNull();
    }
  });
});

describe('calls at once', () => {
  it('never open more than 50 requests', async () => {
    const body = { name: 'other', scopes: ['approvals'] };
    const made = await test.call<{ api_key: string }>('POST', '/v1/keys', { body });
    const key = made.body.api_key;
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, n) =>
        n % 2 === 0
          ? people.ask({ summary: `No ${n}` })
          : people.ask({ question: `No ${n}?` }, { key }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it('with the same Idempotency-Key open one, and mail once', async () => {
    const letters = mailsOf(test.folder).length;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => people.ask({}, { once: 'same' })),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect(new Set(given.map(({ body }) => body.request_id)).size).toBe(1);
    await people.link(given[0]?.body.request_id ?? '');
    expect(mailsOf(test.folder)).toHaveLength(letters + 1);
    const rows = await people.project.store.read((store) => store.requests.pending(clock.now()));
    expect(rows).toHaveLength(1);
  });

  it('for the same address add one channel', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => people.addChannel('ana@example.com')),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
    expect(await people.channels()).toHaveLength(2);
  });

  it('to remove a channel remove it once', async () => {
    const ana = await people.activeChannel('ana@example.com');
    const id = await people.asked({ approvers: [ana] });
    const answers = await Promise.all(Array.from({ length: 5 }, () => people.removeChannel(ana)));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      '200',
      '404',
      '404',
      '404',
      '404',
    ]);
    expect(await people.ledger('channel.removed')).toHaveLength(1);
    const { notified } = await people.status(id);
    expect(notified.map(({ channel_id }) => channel_id)).toEqual([ana, owner]);
  });
});
