import assert from 'node:assert/strict';
import { OPTION, type Asking, type From, type Said } from './project-model.ts';
import { POLICIES, type Choice, type PolicyName, type PolicyRule } from './request-model.ts';
import { ok, untilWaiting } from './inbox-steps.ts';
import type { Pair, Stage } from './stage.ts';
import type { Steps, Who } from './steps.ts';
import type { Answered } from './world.ts';

const STANDING = ['request_id', 'status', 'decision', 'comment', 'decided_by', 'expires_at'];

export function ask(
  stage: Stage,
  { asking, ...by }: { readonly key: Who; readonly once: string | null; readonly asking: Asking },
): Promise<Pair> {
  return stage.write(by, async (from) => {
    const answer = await askReally(stage, from, asking, 0);
    await stage.world.settled();
    const expected = stage.model.ask(from, asking);
    return { said: stage.said(answer, STANDING), expected };
  });
}

function askReally(stage: Stage, from: From, asking: Asking, wait: number): Promise<Answered> {
  const { kind, action, amount, minutes, hasOption, approvers } = asking;
  const input = {
    ...(kind === 'question' ? { question: action } : { action, summary: action }),
    ...(kind === 'approval' && amount !== null && { amount }),
    ...(hasOption && { options: [OPTION] }),
    ...(approvers.length > 0 && { approvers: approvers.map((name) => stage.channelId(name)) }),
    expires_in: `${minutes}m`,
    wait_seconds: wait,
  };
  const op = kind === 'question' ? 'ask_human' : 'ask_approval';
  return stage.world.call(stage.apiKeyOf(from), op, input, from);
}

/** A person decides while the agent waits. */
export function askAndWait(stage: Stage, step: Steps['ask and wait']): Promise<Pair> {
  return stage.write({ key: step.key, once: null }, async (from) => {
    const asking = askReally(stage, from, step.asking, 120);
    await untilWaiting(stage, 1, [asking]);
    await stage.world.settled();
    const opened = stage.model.ask(from, step.asking);
    const isOpen = opened.value['status'] === 'pending';
    if (!isOpen) return { said: stage.said(await asking, STANDING), expected: opened };
    const name = String(opened.value['request_id']);
    const [newest] = await pendingIds(stage);
    assert.equal(stage.names.of(newest ?? ''), name);
    const channel = stage.model.approversOf(name)[0] ?? '';
    const choice: Choice =
      step.asking.kind === 'question'
        ? { verb: 'answer', text: 'so' }
        : { verb: 'approve', text: 'go' };
    await decideReally(stage, { name, channel, choice });
    const expected = stage.model.decide(name, channel, choice);
    assert.equal(expected, 'taken');
    stage.coverage.state('a wait for a person ended');
    return { said: stage.said(await asking, STANDING), expected: stage.model.status(name) };
  });
}

async function pendingIds(stage: Stage): Promise<string[]> {
  const input = { status: 'pending', limit: 1 };
  const { value } = await stage.world.call(stage.template.adminKey, 'request_list', input);
  return (value['items'] as { request_id: string }[]).map((one) => one.request_id);
}

export function propose(
  stage: Stage,
  {
    policy,
    ...by
  }: { readonly key: Who; readonly once: string | null; readonly policy: PolicyName },
): Promise<Pair> {
  return stage.write(by, async (from) => {
    const rules = POLICIES[policy].map((rule: PolicyRule) => ({
      ...rule,
      ...(rule.approvers && { approvers: rule.approvers.map((name) => stage.channelId(name)) }),
    }));
    const input = { policy: { rules }, wait_seconds: 0 };
    const answer = await stage.world.call(stage.apiKeyOf(from), 'policy_set', input, from);
    await stage.world.settled();
    return { said: stage.said(answer, STANDING), expected: stage.model.propose(from, policy) };
  });
}

export async function adopt(stage: Stage, { policy }: Steps['adopt']): Promise<Pair> {
  const pair = await propose(stage, { key: 0, once: null, policy });
  const name = pair.expected.value['request_id'];
  if (pair.said.code !== 'ok' || typeof name !== 'string') return pair;
  assert.deepStrictEqual(pair.said, pair.expected);
  const deciding: Deciding = { name, channel: 'owner', choice: { verb: 'approve', text: '' } };
  const said = await decideReally(stage, deciding);
  const expected = stage.model.decide(name, deciding.channel, deciding.choice);
  return { said: ok({ outcome: said }), expected: ok({ outcome: expected }) };
}

const LITTLE: Asking = {
  kind: 'question',
  action: 'one of many',
  amount: null,
  minutes: 1,
  hasOption: false,
  approvers: ['owner'],
};
const TRIES_MAX = 60;

/** Until there are too many. */
export async function askTooMuch(stage: Stage, step: Steps['ask too much']): Promise<Pair> {
  for (let nth = 0; ; nth += 1) {
    const pair = await ask(stage, { key: step.key, once: null, asking: LITTLE });
    if (pair.said.code !== 'ok' || nth === TRIES_MAX) return pair;
    assert.deepStrictEqual(pair.said, pair.expected);
  }
}

interface Deciding {
  readonly name: string;
  readonly channel: string;
  readonly choice: Choice;
}

async function decideReally(stage: Stage, deciding: Deciding): Promise<string> {
  const token = await linkOf(stage, deciding.name, deciding.channel);
  return token === undefined ? 'none' : stage.world.decide(token, plain(deciding.choice));
}

export async function linkOf(
  stage: Stage,
  name: string,
  channel: string,
): Promise<string | undefined> {
  const links = await stage.world.links(stage.names.idOf(name, 'req'));
  return links.get(stage.channelId(channel));
}

/** A choice as a page makes it of its form. */
export function plain({ verb, text }: Choice): Parameters<Stage['world']['decide']>[1] {
  const comment = text === '' ? {} : { comment: text };
  if (verb === 'answer') return { verb, text };
  if (verb === 'needs_context') return { verb, comment: text };
  return verb === 'option' ? { verb, index: 0, ...comment } : { verb, ...comment };
}

export async function decide(stage: Stage, step: Steps['decide']): Promise<Pair> {
  const name = stage.request(step.request);
  const channel = stage.channel(step.channel);
  const said = await decideReally(stage, { name, channel, choice: step.choice });
  const expected = stage.model.approversOf(name).includes(channel)
    ? stage.model.decide(name, channel, step.choice)
    : 'none';
  stage.coverage.state(`a decision was ${said}`);
  return { said: ok({ outcome: said }), expected: ok({ outcome: expected }) };
}

/** All the people asked decide at once: the first decision counts, and the others learn that they're late. */
export async function decideAtOnce(stage: Stage, step: Steps['decide at once']): Promise<Pair> {
  const name = stage.request(step.request);
  const decisions: Deciding[] = [];
  for (const channel of stage.model.approversOf(name)) {
    for (const choice of [step.choice, step.other]) decisions.push({ name, channel, choice });
  }
  const tokens = await Promise.all(decisions.map(({ channel }) => linkOf(stage, name, channel)));
  const outcomes = await Promise.all(
    decisions.map(({ choice }, nth) => stage.world.decide(tokens[nth] ?? '', plain(choice))),
  );
  // An impossible decision is refused as such while the request is open, and as late afterwards.
  const isOver = stage.model.status(name).value['status'] !== 'pending';
  const winner = outcomes.indexOf('taken');
  const before = decisions.map((one, nth) => ({ one, nth, outcome: outcomes[nth] }));
  const refusedOnes = before.filter(({ outcome }) => outcome === 'refused');
  const others = before.filter(({ outcome, nth }) => outcome !== 'refused' && nth !== winner);
  const order = [...refusedOnes, ...before.filter(({ nth }) => nth === winner), ...others];
  const expected = order.map(({ one }) => stage.model.decide(name, one.channel, one.choice));
  if (winner >= 0 && !isOver) stage.coverage.state('one of several decisions was taken');
  const said = order.map(({ outcome }) => outcome);
  return { said: ok({ outcomes: said }), expected: ok({ outcomes: expected }) };
}

export async function status(stage: Stage, step: Steps['status']): Promise<Pair> {
  const key = stage.key(step.key);
  const name = stage.request(step.request);
  const input = { request_id: stage.names.idOf(name, 'req') };
  const answer = await stage.world.call(key.apiKey, 'request_status', input);
  const expected: Said = stage.refusalOf(key) ?? stage.model.status(name);
  return { said: stage.said(answer, STANDING), expected };
}
