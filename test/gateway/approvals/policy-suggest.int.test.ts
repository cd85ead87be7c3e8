import { describe, expect, it } from 'vitest';
import type { Choice } from '../../../gateway/approvals/approvals.ts';
import { newId } from '../../../shared/lib/ids.ts';
import { SUGGESTION_SCAN_MAX } from '../../../shared/lib/limits.ts';
import { withSuggestion, type RuleSuggestion } from '../../../shared/rules/policy/suggest.ts';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';
import { eachWithPeople, type TestPeople } from './people.ts';

const DAY_MS = 86_400_000;
const APPROVE: Choice = { verb: 'approve' };

interface Suggestion extends Omit<RuleSuggestion, 'approved'> {
  readonly approved: number;
  readonly since: string;
  readonly first_at: string;
  readonly last_at: string;
  readonly by: number;
  readonly examples: string[];
}

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let asked = 0;
eachWithPeople((made) => ({ test, clock, people } = made));

const iso = (ms: number): string => new Date(ms).toISOString();

async function suggested(): Promise<Suggestion[]> {
  const answer = await test.call<{ items: Suggestion[] }>('GET', '/v1/policy/suggestions');
  expect(answer.status).toBe(200);
  return answer.body.items;
}

/** A request that somebody decided. */
async function decided(body: Record<string, unknown> = {}, choice = APPROVE, channel?: string) {
  asked += 1;
  const id = await people.asked({ action: 'pr.merge', summary: `Merge #${asked}`, ...body });
  expect((await people.decide(id, choice, channel))?.outcome).toBe('taken');
  return id;
}

async function approved(times: number, body: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < times; count += 1) ids.push(await decided(body));
  return ids;
}

const rules = async () =>
  (await test.call<{ rules: RuleSuggestion['rule'][] }>('GET', '/v1/policy')).body.rules;

/** Puts the suggested rule in force, as a client does. */
async function applied(suggestion: Suggestion): Promise<void> {
  await people.setPolicy(...withSuggestion(await rules(), suggestion));
}

/** How the policy answers a request now. */
async function answered(body: Record<string, unknown>): Promise<string> {
  asked += 1;
  const summary = `Merge #${asked}`;
  const answer = (await people.ask({ action: 'pr.merge', summary, ...body })).body;
  return answer.decided_by === null ? answer.status : `${answer.status} ${answer.decided_by}`;
}

const RULE = {
  id: 'auto-pr-merge',
  effect: 'auto_approve_notify',
  action: ['pr.merge'],
  risk: ['low', 'medium'],
};

describe('a rule is suggested', () => {
  it('for an action that people approved five times, and holds once a person approves it', async () => {
    const ana = await people.activeChannel('ana@example.com', 'ana');
    const start = clock.now();
    const ids = await approved(4);
    expect(await suggested()).toEqual([]);
    clock.advance(DAY_MS);
    ids.push(await decided({}, APPROVE, ana));
    const [suggestion, ...more] = await suggested();
    expect(more).toEqual([]);
    expect(suggestion).toEqual({
      action: 'pr.merge',
      approved: 5,
      since: iso(clock.now() - 30 * DAY_MS),
      first_at: iso(start),
      last_at: iso(clock.now()),
      by: 2,
      rule: RULE,
      before: null,
      examples: ids.toReversed().slice(0, 3),
    });
    expect(await answered({})).toBe('pending');
    if (suggestion) await applied(suggestion);
    expect(await answered({})).toBe('approved policy:auto-pr-merge');
    const details = 'It changes the schema.';
    expect(await answered({ risk: 'high', details })).toBe('pending');
    expect(await suggested()).toEqual([]);
  });

  it('by as many people as surely approved, however many channels they have', async () => {
    await test.gateway.setOwner(test.projectId, 'owner@example.com');
    const owner = await people.owner();
    const again = await people.activeChannel('Owner+deploys@example.com', 'again');
    const ana = await people.activeChannel('ana@example.com', 'ana');
    for (const channel of [owner, again, owner, again, again]) await decided({}, APPROVE, channel);
    expect(await suggested()).toMatchObject([{ approved: 5, by: 1 }]);
    await decided({}, APPROVE, ana);
    expect(await suggested()).toMatchObject([{ approved: 6, by: 2 }]);
  });

  it('up to the largest amount, and for low risk if all had it', async () => {
    for (const amount of [5, 40, 12, 7, 9]) await decided({ amount, risk: 'low' });
    expect(await suggested()).toMatchObject([{ rule: { amount_lte: 40, risk: ['low'] } }]);
  });

  it('before the rule that sends the action to people, so that earlier rules keep winning', async () => {
    await people.setPolicy(
      { id: 'never', effect: 'deny', action: 'pr.*', amount_gt: 50 },
      { id: 'merges', effect: 'require_approval', action: 'pr.*' },
      { id: 'rest', effect: 'deny' },
    );
    for (const amount of [5, 40, 12, 7, 9]) await decided({ amount });
    const [suggestion] = await suggested();
    expect(suggestion).toMatchObject({ before: 'merges', rule: { amount_lte: 40 } });
    if (suggestion) await applied(suggestion);
    expect((await rules()).map(({ id }) => id)).toEqual([
      'never',
      'auto-pr-merge',
      'merges',
      'rest',
    ]);
    expect(await answered({ amount: 40 })).toBe('approved policy:auto-pr-merge');
    expect(await answered({ amount: 41 })).toBe('pending');
    expect(await answered({ amount: 51 })).toBe('denied policy:never');
    expect(await answered({ action: 'deploy', amount: 1 })).toBe('denied policy:rest');
  });

  it('under an id of its own, and only on what is still in the window', async () => {
    await people.setPolicy({ id: 'auto-pr-merge', effect: 'deny', action: 'pr.close' });
    await approved(5);
    expect(await suggested()).toMatchObject([{ rule: { id: 'auto-pr-merge-2' } }]);
    clock.advance(30 * DAY_MS + 1);
    expect(await suggested()).toEqual([]);
  });

  it('from the newest requests only, and says since when', async () => {
    const [first = ''] = await approved(5);
    clock.advance(DAY_MS);
    const row = await people.project.store.read((store) => store.requests.find(first));
    if (!row) throw new Error('It has no row.');
    const byPolicy = { ...row, decided_by: 'policy:small', details: 'd'.repeat(4000) };
    const add = (count: number) =>
      writerOf(people.project).write(async (store) => {
        for (let n = 0; n < count; n += 1) {
          const id = newId('req', clock.now());
          await store.requests.insert({ ...byPolicy, id, created_at: iso(clock.now()) });
        }
      });
    await add(SUGGESTION_SCAN_MAX - 5);
    const window = clock.now() - 30 * DAY_MS;
    expect(await suggested()).toMatchObject([{ approved: 5, since: iso(window) }]);
    await add(1);
    expect(await suggested()).toEqual([]);
    const since = iso(clock.now());
    clock.advance(DAY_MS);
    await approved(5);
    expect(await suggested()).toMatchObject([{ approved: 5, since }]);
  });

  it('without a request that was withdrawn', async () => {
    await approved(5);
    const id = await people.asked({ action: 'pr.merge', summary: 'Not now' });
    await test.call('POST', `/v1/requests/${id}/withdraw`, { body: { reason: 'not needed' } });
    expect(await suggested()).toMatchObject([{ approved: 5 }]);
  });
});

describe('no rule is suggested', () => {
  it.each<[string, Choice, Record<string, unknown>]>([
    ['denied', { verb: 'deny' }, {}],
    ['approved with an option', { verb: 'option', index: 0 }, { options: ['squash'] }],
    ['sent back', { verb: 'needs_context', comment: 'Which one?' }, {}],
    ['approved at high risk', APPROVE, { risk: 'high', details: 'Big.' }],
    ['approved with an amount, and the others had none', APPROVE, { amount: 5 }],
  ])('if one was %s', async (_what, choice, body) => {
    await approved(5);
    await decided(body, choice);
    expect(await suggested()).toEqual([]);
  });

  it('if one expired, written down or not', async () => {
    await approved(5);
    await people.asked({ action: 'pr.merge', summary: 'Late', expires_in: '1m' });
    expect(await suggested()).toHaveLength(1);
    clock.advance(60_000);
    expect(await suggested()).toEqual([]);
    await people.maintenance();
    expect(await suggested()).toEqual([]);
  });

  it('if a request needed several people, or a rule names approvers', async () => {
    const ana = await people.activeChannel('ana@example.com', 'ana');
    await approved(5);
    const both = await people.asked({ action: 'pr.merge', summary: 'Both', approvals: 2 });
    for (const channel of [ana, await people.owner()]) {
      await people.decide(both, APPROVE, channel);
    }
    expect(await people.status(both)).toMatchObject({ status: 'approved' });
    await approved(5, { action: 'deploy' });
    expect((await suggested()).map(({ action }) => action)).toEqual(['deploy']);
    const rule = { effect: 'require_approval', action: 'deploy' };
    await people.setPolicy({ ...rule, approvers: [ana] });
    expect(await suggested()).toEqual([]);
    await people.setPolicy({ ...rule, approvals: 2 });
    expect(await suggested()).toEqual([]);
  });

  it('if a later denial or another condition would lose to it', async () => {
    await people.setPolicy(
      { id: 'large', effect: 'require_approval', action: 'pr.*', amount_gt: 10 },
      { id: 'small', effect: 'deny', action: 'pr.*' },
    );
    for (const amount of [11, 12, 13, 14, 15]) await decided({ amount });
    expect(await suggested()).toEqual([]);
  });

  it('for channels and policies, for questions, and for names no rule can have', async () => {
    for (let count = 0; count < 5; count += 1) {
      await people.setPolicy({ id: `rule-${count}`, effect: 'allow', action: 'walk' });
    }
    for (const action of ['pr.*', 'a*b', 'invisible\u200Bmerge']) await approved(5, { action });
    expect(await suggested()).toEqual([]);
  });

  it('if the policy would be refused: it is full, or names an approver who left', async () => {
    const ana = await people.activeChannel('ana@example.com', 'ana');
    const full = Array.from({ length: 200 }, (_, index) => ({
      id: `r${index}`,
      effect: 'allow',
      action: `walk.${index}`,
    }));
    await approved(5);
    await people.setPolicy(...full);
    expect(await suggested()).toEqual([]);
    await people.setPolicy({ effect: 'require_approval', action: 'fly', approvers: [ana] });
    expect(await suggested()).toHaveLength(1);
    await test.call('DELETE', `/v1/channels/${ana}`);
    expect(await suggested()).toEqual([]);
  });
});
