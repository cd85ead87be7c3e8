import { setImmediate as turn } from 'node:timers/promises';
import * as inbox from './inbox-steps.ts';
import * as people from './people-steps.ts';
import type { Pair, Stage } from './stage.ts';
import type { Interrupted, Steps } from './steps.ts';

/** The key of a worker ends, also for a wait that it holds; another takes its place. */
export async function revoke(stage: Stage, step: Steps['revoke']): Promise<Pair> {
  const { world, model, template } = stage;
  const key = stage.workers[step.key];
  if (!key) throw new Error('There is no such worker.');
  const waiting = inbox.waitInVain(stage, key.apiKey);
  await inbox.untilWaiting(stage, 1, [waiting]);
  const revoked = await world.call(template.adminKey, 'key_revoke', { key_id: key.id });
  const { code } = await waiting;
  model.revoke(stage.keyName(key));
  const scopes = ['inbox:read', 'inbox:write', 'approvals'];
  const { value } = await world.call(template.adminKey, 'key_create', { name: 'worker', scopes });
  stage.replaceKey(stage.workers.indexOf(key), {
    id: String(value['id']),
    apiKey: String(value['api_key']),
  });
  model.ledger.push(`key_create ${stage.names.of(String(value['id']))} ok admin`);
  const expected = inbox.ok({ wait: 'KEY_REVOKED', id: stage.keyName(key) });
  return { said: inbox.ok({ wait: code, id: stage.names.in(revoked.value['id']) }), expected };
}

export function toEdge(stage: Stage, { nth, besideMs }: Steps['edge']): void {
  const edges = stage.model.edges();
  const edge = edges[nth % Math.max(edges.length, 1)];
  if (edge !== undefined) inbox.moveClock(stage, edge + besideMs);
}

export async function tick({ world, model }: Stage): Promise<void> {
  await world.tick();
  model.tick();
}

/** Restarts: open waits get the answer of a timed-out wait. */
export async function restart(stage: Stage): Promise<Pair> {
  const { apiKey } = stage.key(0);
  const waiting = inbox.waitInVain(stage, apiKey);
  await inbox.untilWaiting(stage, 1, [waiting]);
  await stage.world.restart();
  stage.model.restarted();
  const { code, value } = await waiting;
  const expected = inbox.ok({ event: null });
  return { said: { code, value: { event: value['event'] } }, expected };
}

/**
 * The process dies in the middle of a write, and the caller repeats it under the same Idempotency-Key: it has one effect,
 * and an answer given before the death stays true.
 */
export async function crash(stage: Stage, step: Steps['crash']): Promise<Pair> {
  const { during } = step;
  // A new process follows the clock at once, so set it: the repeat must come at the same time.
  inbox.moveClock(stage, stage.model.now);
  if (during === 'deliver') return crashDelivery(stage, step);
  if (during === 'decide') return crashDecision(stage, step);
  stage.world.dieIn(step.turns);
  const pair = await writeOf(stage, during, { ...step, once: `crash ${stage.next()}` });
  stage.model.restarted();
  stage.coverage.state('died');
  // A refusal is kept under no key: both of them may stand in the ledger.
  const { ledger } = stage.model;
  const last = ledger.at(-1);
  const isTwice = last !== undefined && (await stage.ledgerLength()) === ledger.length + 1;
  if (pair.said.code !== 'ok' && isTwice) ledger.push(last);
  return pair;
}

function writeOf(
  stage: Stage,
  during: Exclude<Interrupted, 'deliver' | 'decide'>,
  step: Steps['crash'],
): Promise<Pair> {
  if (during === 'ask') return people.ask(stage, step);
  if (during === 'claim') return inbox.claim(stage, step);
  return during === 'ack' ? inbox.ack(stage, step) : inbox.nack(stage, step, true);
}

async function die({ world, model, coverage }: Stage, turns: number): Promise<void> {
  for (let nth = 0; nth < turns; nth += 1) await turn();
  await world.crash();
  model.restarted();
  coverage.state('died');
}

async function crashDelivery(stage: Stage, step: Steps['crash']): Promise<Pair> {
  const { source, body, providerId } = step;
  // What only a hint tells might differ from one process to the next.
  const turns = stage.model.inbox.remembersAll(stage.model.now) ? step.turns : 0;
  const lost = stage.world.deliver(source, body, providerId).catch(() => null);
  await die(stage, turns);
  const pair = await inbox.deliver(stage, step);
  await lost;
  const { status } = pair.said.value;
  if (status === 'duplicate' && pair.expected.value['status'] === 'accepted') {
    stage.coverage.state('what was delivered before a death came again');
    const expected = inbox.ok({ ...pair.expected.value, status });
    return { said: pair.said, expected };
  }
  return pair;
}

async function crashDecision(stage: Stage, step: Steps['crash']): Promise<Pair> {
  const name = stage.request(step.request);
  const token = await people.linkOf(stage, name, stage.channel(step.channel));
  const choice = people.plain(step.choice);
  const lost = stage.world.decide(token ?? '', choice).catch(() => null);
  await die(stage, step.turns);
  const pair = await people.decide(stage, step);
  await lost;
  // It was decided before the death; the record says how.
  const isLate =
    pair.said.value['outcome'] === 'late' && pair.expected.value['outcome'] === 'taken';
  return isLate ? { said: pair.said, expected: pair.said } : pair;
}
