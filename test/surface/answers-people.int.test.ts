import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Choice } from '../../shared/rules/requests/request-state.ts';
import { LOOPBACK } from '../gateway/callbacks/callback-receiver.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';
import { decide } from './deciding.ts';
import { promisedBy, type Input } from './promised.ts';
import { World, type Answer } from './scenario.ts';

// Answers about people and what they decide that no example leads to.

const OPTIONS = ['blue', 'green'];
const ACTION = { action: 'paint', summary: 'Paint the shed', options: OPTIONS, wait_seconds: 0 };
const QUESTION = { question: 'Which colour?', options: OPTIONS, wait_seconds: 0 };

let clock: FakeClock;
let gateway: TestGateway;
let world: World;

beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  world = new World(gateway);
});
afterAll(() => gateway.stop());

function promised(name: string, input: Input): Promise<Answer> {
  return promisedBy(world, name, input);
}

/** The id of a request that now waits for a person. */
async function asked(name: string, input: Input): Promise<string> {
  const { body } = await promised(name, input);
  expect(body).toMatchObject({ status: 'pending' });
  return String(body['request_id']);
}

async function statusOf(request_id: string): Promise<Answer['body']> {
  return (await promised('request_status', { request_id })).body;
}

describe('a decision', () => {
  const decisions: readonly (readonly [Choice, string, Input, Input])[] = [
    [{ verb: 'approve' }, 'ask_approval', ACTION, { status: 'approved', comment: null }],
    [
      { verb: 'deny', comment: 'Not today.' },
      'ask_approval',
      ACTION,
      { status: 'denied', comment: 'Not today.' },
    ],
    [
      { verb: 'option', index: 1 },
      'ask_approval',
      ACTION,
      { status: 'modified', decision: 'green' },
    ],
    [
      { verb: 'needs_context', comment: 'Which shed?' },
      'ask_approval',
      ACTION,
      { status: 'needs_context', comment: 'Which shed?' },
    ],
    [{ verb: 'option', index: 0 }, 'ask_human', QUESTION, { status: 'answered', decision: 'blue' }],
    [
      { verb: 'answer', text: 'Red, please.' },
      'ask_human',
      QUESTION,
      { status: 'answered', decision: 'Red, please.' },
    ],
    [
      { verb: 'needs_context', comment: 'Of what?' },
      'ask_human',
      QUESTION,
      { status: 'needs_context', comment: 'Of what?' },
    ],
  ];

  it.each(decisions)('%j of %s is told', async (choice, name, input, wanted) => {
    const state_ref = JSON.stringify(choice);
    const id = await asked(name, { ...input, state_ref });
    await decide(gateway, world, id, choice);
    const record = await statusOf(id);
    expect(record).toMatchObject({ ...wanted, state_ref, decided_at: expect.any(String) });
    expect(record['decided_by']).toMatch(/^channel:chn_[0-9a-z]{26}$/);
  });

  it('is there for whoever waited for it', async () => {
    const waiting = promised('ask_human', { ...QUESTION, wait_seconds: 30 });
    const { items } = await world.until('request_list', { status: 'pending' }, (answer) =>
      Array.isArray(answer['items']) ? answer['items'].length > 0 : false,
    );
    const [request] = items as { request_id: string }[];
    await decide(gateway, world, request?.request_id ?? '', { verb: 'answer', text: 'Red.' });
    expect((await waiting).body).toMatchObject({ status: 'answered', decision: 'Red.' });
  });

  it('that nobody made in time is none', async () => {
    const id = await asked('ask_approval', { ...ACTION, expires_in: '1m' });
    clock.advance(60_000);
    expect(await statusOf(id)).toMatchObject({ status: 'expired', decided_by: null });
    const listed = await promised('request_list', { status: 'expired' });
    expect(listed.body['items']).toMatchObject([{ request_id: id }]);
  });
});

/** Rules, one for each effect. */
const RULES = [
  { id: 'free', effect: 'allow', action: 'walk', description: 'Walking is free.' },
  { id: 'small', effect: 'auto_approve', action: 'buy', amount_lte: 10 },
  { id: 'told', effect: 'auto_approve_notify', action: ['buy', 'rent'], amount_lte: 100 },
  { id: 'never', effect: 'deny', action: 'fly.*', risk: ['low', 'medium', 'high'] },
  { id: 'links', effect: 'auto_approve', tool: 'file_url' },
  { id: 'mail', effect: 'allow', tool: 'email_send', recipient_domains: ['*.example.com'] },
];

describe('a policy', () => {
  it('holds once a person has approved it', async () => {
    const before = await promised('policy_get', {});
    expect(before.body).toMatchObject({ version: 0, rules: [], approved_by: null });
    const shadowed = [...RULES, { id: 'late', effect: 'deny', action: 'walk' }];
    const diff = await promised('policy_diff', { policy: { rules: shadowed } });
    expect(diff.body).toMatchObject({ version: 0, changed: true, warnings: [{ rule: 'late' }] });
    const proposal = { policy: { rules: RULES }, note: 'As agreed.', wait_seconds: 0 };
    const id = await asked('policy_set', proposal);
    await decide(gateway, world, id, { verb: 'approve' });
    const { body } = await promised('policy_get', {});
    expect(body).toMatchObject({ version: 1, note: 'As agreed.', rules: { length: RULES.length } });
    expect(body['approved_by']).toMatch(/^channel:/);
  });

  it.each([
    [{ action: 'walk' }, 'approved', 'free'],
    [{ action: 'buy', amount: 10 }, 'approved', 'small'],
    [{ action: 'buy', amount: 10.5 }, 'approved', 'told'],
    [{ action: 'rent', amount: 100 }, 'approved', 'told'],
    [{ action: 'fly.home' }, 'denied', 'never'],
  ])('decides %j at once: %s by %s', async (input, status, rule) => {
    const test = await promised('policy_test', input);
    expect(test.body).toMatchObject({ version: 1, rule });
    const { body } = await promised('ask_approval', { ...input, summary: 'Do it' });
    expect(body).toMatchObject({ status, decided_by: `policy:${rule}`, poll_after_seconds: null });
    expect(await statusOf(String(body['request_id']))).toMatchObject({ policy_version: 1, rule });
  });

  it('leaves the rest to people', async () => {
    const test = await promised('policy_test', { action: 'buy', amount: 101 });
    expect(test.body).toMatchObject({ effect: 'require_approval', rule: null });
    await asked('ask_approval', { ...ACTION, action: 'buy', amount: 101 });
  });

  it('gives a link at once, with the request that was approved by it', async () => {
    await promised('file_put', { path: 'a', content_base64: 'aGk=' });
    const { body } = await promised('file_url', { path: 'a', wait_seconds: 0 });
    expect(body).toMatchObject({ url: expect.any(String), link_id: expect.any(String) });
    const { items } = (await promised('request_list', { limit: 1 })).body;
    expect(items).toMatchObject([{ kind: 'file_url', status: 'approved', rule: 'links' }]);
  });

  it('is superseded where another one was approved meanwhile', async () => {
    const proposal = { policy: { rules: [] }, wait_seconds: 0 };
    const [first, second] = [
      await asked('policy_set', proposal),
      await asked('policy_set', proposal),
    ];
    await decide(gateway, world, second, { verb: 'approve' });
    await decide(gateway, world, first, { verb: 'approve' });
    expect(await statusOf(first)).toMatchObject({
      status: 'denied',
      hint: expect.stringMatching(/^superseded/),
    });
    expect((await promised('policy_get', {})).body).toMatchObject({ version: 2, rules: [] });
  });
});

describe('a channel', () => {
  it('is added, verified, active once the owner lets it in, and gone when it is removed', async () => {
    const added = await promised('channel_add', { kind: 'email', address: 'ana@example.com' });
    expect(added.body).toMatchObject({
      channel: { status: 'added', address: 'a***@example.com', label: 'email', owner: false },
      verification_sent_to: 'a***@example.com',
    });
    const { id } = added.body['channel'] as { id: string };
    const now = async (): Promise<unknown> => {
      const { items } = (await promised('channel_list', {})).body;
      return (items as { status: string }[]).map(({ status }) => status);
    };
    await gateway.gateway.approvals.verifyEmail(await linkToken(gateway.folder, 'c'));
    expect(await now()).toEqual(['active', 'verified']);
    const { items } = (await promised('request_list', { limit: 1 })).body;
    const [request] = items as { request_id: string; kind: string }[];
    expect(request?.kind).toBe('channel');
    await decide(gateway, world, request?.request_id ?? '', { verb: 'approve' });
    expect(await now()).toEqual(['active', 'active']);
    const removed = await promised('channel_remove', { channel_id: id });
    expect(removed.body).toMatchObject({ id, status: 'removed' });
    expect(await now()).toEqual(['active']);
  });
});
