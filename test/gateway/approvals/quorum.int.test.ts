/* oxlint-disable unicorn/no-thenable -- the field has this name */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ParkStage } from '../../shared/operations/inbox/park-stage.ts';
import type { TestPeople } from './people.ts';

const MINUTE_MS = 60_000;

let stage: ParkStage;
let people: TestPeople;
let owner: string;
let ana: string;
let ben: string;
beforeEach(async () => {
  stage = await ParkStage.start();
  people = stage.people;
  owner = await people.owner();
  ana = await people.activeChannel('ana@example.com', 'ana');
  ben = await people.activeChannel('ben@example.com', 'ben');
});
afterEach(() => stage.stop());

const iso = () => new Date(stage.clock.now()).toISOString();
const approve = (request: string, channel: string, comment?: string) =>
  people.decide(request, { verb: 'approve', ...(comment !== undefined && { comment }) }, channel);
const deny = (request: string, channel: string) =>
  people.decide(request, { verb: 'deny' }, channel);

/** The answer's complaint about a field. */
async function complaint(body: Record<string, unknown>) {
  const { error } = (await people.ask(body)).body;
  return [error?.code, error?.details?.['fields']];
}

const tooFew = (asked: number) => [
  'VALIDATION_FAILED',
  [{ path: 'approvals', message: `4 people must approve, but only ${asked} can be asked.` }],
];

describe('a request that needs two approvals', () => {
  it('ends with the second, and keeps both', async () => {
    const request = await people.asked({ approvals: 2 });
    expect(await people.status(request)).toMatchObject({ approvals: { needed: 2, given: [] } });
    const first = { channel_id: ana, at: iso() };
    expect(await approve(request, ana, 'looks good')).toMatchObject({ outcome: 'counted' });
    expect(await people.status(request)).toMatchObject({
      status: 'pending',
      decided_by: null,
      approvals: { needed: 2, given: [first] },
    });
    stage.clock.advance(3 * MINUTE_MS);
    const second = { channel_id: ben, at: iso() };
    expect(await approve(request, ben, 'fine')).toMatchObject({ outcome: 'taken' });
    expect(await people.status(request)).toMatchObject({
      status: 'approved',
      decided_by: `channel:${ben}`,
      decided_at: iso(),
      comment: 'ana: looks good\nben: fine',
      approvals: { needed: 2, given: [first, second] },
    });
    expect((await approve(request, owner))?.outcome).toBe('late');
  });

  it('counts each person once', async () => {
    const request = await people.asked({ approvals: 2 });
    const link = await people.link(request, ana);
    const again = () => stage.test.gateway.approvals.decide(link, { verb: 'approve' });
    for (let times = 0; times < 3; times += 1) expect((await again())?.outcome).toBe('counted');
    expect(await people.status(request)).toMatchObject({
      status: 'pending',
      approvals: { given: [{ channel_id: ana }] },
    });
    expect(await people.ledger('request.voted')).toHaveLength(1);
  });

  it('ends with the first no, also of somebody who approved', async () => {
    const [one, two, three] = [
      await people.asked({ approvals: 2 }),
      await people.asked({ approvals: 2, summary: 'two' }),
      await people.asked({ approvals: 2, summary: 'three' }),
    ];
    for (const request of [one, two, three]) await approve(request, ana);
    expect((await deny(one, ben))?.outcome).toBe('taken');
    expect((await deny(two, ana))?.outcome).toBe('taken');
    await people.decide(three, { verb: 'needs_context', comment: 'Which table?' }, ben);
    const given = [{ channel_id: ana, at: iso() }];
    expect(await people.status(one)).toMatchObject({ status: 'denied', approvals: { given } });
    expect(await people.status(two)).toMatchObject({ status: 'denied', approvals: { given: [] } });
    expect((await people.status(three)).status).toBe('needs_context');
    expect((await approve(two, ben))?.outcome).toBe('late');
  });

  it('expires with one', async () => {
    const request = await people.asked({ approvals: 2, expires_in: '1m' });
    await approve(request, ana);
    stage.clock.advance(MINUTE_MS);
    await people.maintenance();
    expect((await people.status(request)).status).toBe('expired');
    expect((await approve(request, ben))?.outcome).toBe('late');
  });

  it('counts people who are asked later', async () => {
    const body = { approvals: 2, approvers: [ana], then: [ben] };
    const request = await people.asked({ ...body, remind: '1h' });
    await approve(request, ana);
    stage.clock.advance(60 * MINUTE_MS);
    await people.maintenance();
    await approve(request, ben);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('is refused where fewer people can be asked, and with options', async () => {
    expect(await complaint({ approvals: 4 })).toEqual(tooFew(3));
    expect(await complaint({ approvals: 4, approvers: [ana, ben] })).toEqual(tooFew(2));
    const message = "Options don't go with 2 approvals: an option is one person's choice.";
    expect(await complaint({ approvals: 2, options: ['later'] })).toEqual([
      'VALIDATION_FAILED',
      [{ path: 'approvals', message }],
    ]);
    for (const approvals of [0, 6, 1.5]) {
      expect((await people.ask({ approvals })).body.error?.code).toBe('VALIDATION_FAILED');
    }
  });

  it('tells agents nothing new in its event', async () => {
    const request = await people.asked({ approvals: 2 });
    for (const channel of [ana, ben]) await approve(request, channel);
    const event = (await people.events()).find(({ request_id: id }) => id === request);
    expect(event).toMatchObject({ decided_by: `channel:${ben}` });
    expect(event).not.toHaveProperty('approvals');
  });
});

describe('a request that needs one approval', () => {
  it('names who gave it', async () => {
    const request = await people.asked();
    await approve(request, ana);
    const given = [{ channel_id: ana, at: iso() }];
    expect(await people.status(request)).toMatchObject({ approvals: { needed: 1, given } });
    expect(await people.ledger('request.voted')).toEqual([]);
  });
});

describe('an event whose question needs two approvals', () => {
  it('waits for the second, and every approval is in its ledger', async () => {
    const id = await stage.claimed();
    const { request_id: request } = await stage.askAndPark(id, { approvals: 2 });
    await approve(request, ana);
    expect((await stage.event(id)).status).toBe('waiting');
    await approve(request, ben);
    expect((await stage.claim(id)).resumed?.answers).toMatchObject([{ status: 'approved' }]);
    expect(await stage.operations(request)).toEqual([
      'ask_approval',
      'request.voted',
      'request.voted',
      'request.decided',
    ]);
  });

  it('is the same question with another number', async () => {
    const id = await stage.claimed();
    const first = await people.ask({ event_id: id, approvals: 2 });
    await approve(first.body.request_id, ana);
    for (const approvals of [1, 3]) {
      const again = await people.ask({ event_id: id, approvals });
      expect(again.body.request_id).toBe(first.body.request_id);
    }
    expect(await people.status(first.body.request_id)).toMatchObject({
      status: 'pending',
      approvals: { needed: 2, given: [{ channel_id: ana }] },
    });
  });
});

describe('a rule that needs two approvals', () => {
  const rule = { id: 'two', action: 'deploy', effect: 'require_approval', approvals: 2 };

  it('counts where it asks for more than the call', async () => {
    await people.setPolicy(rule);
    const needed = async (body: Record<string, unknown>) =>
      (await people.status(await people.asked(body))).approvals.needed;
    expect(await needed({})).toBe(2);
    expect(await needed({ approvals: 3 })).toBe(3);
    expect(await needed({ action: 'other' })).toBe(1);
    expect((await complaint({ options: ['later'] }))[0]).toBe('VALIDATION_FAILED');
    const tried = await stage.post('/v1/policy/test', { action: 'deploy' });
    expect(tried.body).toMatchObject({
      sentence: 'The rule two decides: require_approval by 2 people.',
    });
  });

  it('asks nobody where the policy decides', async () => {
    await people.setPolicy({ id: 'yes', action: 'deploy', effect: 'auto_approve' });
    const { body } = await people.ask({ approvals: 2 });
    expect(body.status).toBe('approved');
    expect((await people.status(body.request_id)).approvals).toEqual({ needed: 1, given: [] });
  });
});

describe('a person who approved and is removed', () => {
  it('no longer counts, and the request waits', async () => {
    const request = await people.asked({ approvals: 2, approvers: [ana, ben] });
    await approve(request, ana);
    await people.removeChannel(ana);
    expect(await people.status(request)).toMatchObject({
      status: 'pending',
      approvers: [ben, owner],
      approvals: { needed: 2, given: [] },
    });
    await approve(request, ben);
    expect((await people.status(request)).status).toBe('pending');
    await approve(request, owner);
    expect((await people.status(request)).status).toBe('approved');
    expect(await people.ledger('request.voted')).toHaveLength(3);
    // What is decided stays.
    await people.removeChannel(ben);
    expect((await people.status(request)).approvals.given).toHaveLength(2);
  });
});

describe('an owner who approved and gets another address', () => {
  it('is asked again, and no longer counts', async () => {
    const request = await people.asked({ approvals: 2 });
    const old = await people.link(request, owner);
    await stage.test.gateway.approvals.decide(old, { verb: 'approve' });
    await stage.test.gateway.setOwner(stage.test.projectId, 'new@example.com');
    expect((await people.status(request)).approvals.given).toEqual([]);
    expect(await stage.test.gateway.approvals.open(old)).toBeNull();
  });
});

describe('people at the same moment', () => {
  const ROUNDS = 5;

  it('who approve end it once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const request = await people.asked({ approvals: 2, summary: `No ${round}` });
      const links = await Promise.all([owner, ana, ben].map((one) => people.link(request, one)));
      const decisions = await Promise.all(
        [...links, ...links].map((link) =>
          stage.test.gateway.approvals.decide(link, { verb: 'approve' }),
        ),
      );
      const outcomes = decisions.map((one) => one?.outcome ?? 'gone');
      expect(outcomes.filter((one) => one === 'taken')).toHaveLength(1);
      expect(outcomes.filter((one) => one === 'counted').length).toBeGreaterThan(0);
      const { status, approvals } = await people.status(request);
      expect([status, approvals.given.length]).toEqual(['approved', 2]);
      const decided = await people.ledger('request.decided');
      expect(decided.filter(({ subject }) => subject === request)).toHaveLength(1);
      const voted = await people.ledger('request.voted');
      expect(voted.filter(({ subject }) => subject === request)).toHaveLength(2);
    }
  });

  it('of whom one denies end it once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const request = await people.asked({ approvals: 2, summary: `No ${round}` });
      await approve(request, owner);
      const [yes, no] = [await people.link(request, ana), await people.link(request, ben)];
      const { approvals } = stage.test.gateway;
      const choices = [
        () => approvals.decide(yes, { verb: 'approve' }),
        () => approvals.decide(no, { verb: 'deny' }),
      ];
      if (round % 2 === 1) choices.reverse();
      const decisions = await Promise.all(choices.map((choose) => choose()));
      const outcomes = decisions.map((one) => one?.outcome ?? 'gone');
      expect(outcomes.toSorted()).toEqual(['late', 'taken']);
      const { status } = await people.status(request);
      const taken = decisions.find((one) => one?.outcome === 'taken');
      expect(taken?.opened.channel.id).toBe(status === 'approved' ? ana : ben);
      // Whoever comes too late is told how it ended.
      for (const one of decisions) expect(one?.opened.request.status).toBe(status);
    }
  });
});
