import assert from 'node:assert/strict';
import { moveClock, ok } from './inbox-steps.ts';
import { PUSHED } from './project-model.ts';
import type { Push } from './push-model.ts';
import { tick } from './service-steps.ts';
import type { Pair, Stage } from './stage.ts';
import type { Steps } from './steps.ts';

const DOWN = 500;
const UP = 204;

export function receiver({ template, model }: Stage, { isUp }: Steps['receiver']): void {
  template.receiver.answer(isUp ? UP : DOWN);
  model.push.isUp = isUp;
}

export async function pushOn(stage: Stage, { times }: Steps['push on']): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    const due = stage.model.push.nextDue();
    if (due === null) return;
    if (due > stage.model.now) moveClock(stage, due);
    await tick(stage);
    await stage.world.settled();
    await afterPushes(stage);
  }
}

export async function retry(stage: Stage): Promise<Pair | null> {
  const { world, model, template, names } = stage;
  const { route } = model.push;
  if (route === null) return null;
  const input = { route_id: names.idOf(route, 'rte') };
  const answer = await world.call(template.adminKey, 'route_retry', input);
  const expected = model.retryRoute();
  return { said: stage.said(answer, ['retried', 'more']), expected };
}

export async function turnRoute(stage: Stage): Promise<Pair> {
  const { world, model, template, names } = stage;
  const { route: name } = model.push;
  if (name !== null) {
    const input = { route_id: names.idOf(name, 'rte') };
    const answer = await world.call(template.adminKey, 'route_remove', input);
    model.push.close();
    model.ledger.push(`route_remove ${name} ok admin`);
    return { said: stage.said(answer, ['id']), expected: ok({ id: name }) };
  }
  const input = { callback_url: template.receiver.url(), match_source: PUSHED };
  const answer = await world.call(template.adminKey, 'route_add', input);
  const fresh = `route#${stage.next()}`;
  names.give(String(answer.value['id']), fresh);
  model.push.route = fresh;
  model.ledger.push(`route_add ${fresh} ok admin`);
  return { said: stage.said(answer, ['id']), expected: ok({ id: fresh }) };
}

/** Checks that the receiver got exactly this step's pushes; takes the next attempt's time from the product. */
export async function afterPushes(stage: Stage): Promise<void> {
  const { template, model, names, world } = stage;
  const got = template.receiver.got.splice(0);
  const ids = got.map(({ headers }) => headers['webhook-id']);
  assert.deepStrictEqual(names.sorted(ids), model.pushed.toSorted(), 'what was pushed');
  model.pushed = [];
  const open = model.push.pushes.filter(({ within }) => within !== null);
  const [first] = open;
  if (!first) return;
  const input = { route_id: names.idOf(first.route, 'rte'), status: 'pending', limit: 100 };
  const { value } = await world.call(template.adminKey, 'route_attempts', input);
  const items = value['items'] as { event_id: string; next_attempt_at: string }[];
  for (const push of open) {
    const item = items.find(({ event_id }) => names.of(event_id) === push.event.name);
    learnDue(push, Date.parse(item?.next_attempt_at ?? ''));
  }
}

function learnDue(push: Push, due: number): void {
  const [from, to] = push.within ?? [0, 0];
  const isWithin = due >= from && due <= to;
  assert.ok(
    isWithin,
    `The next attempt of ${push.event.name} is at ${due}, not from ${from} to ${to}.`,
  );
  push.due = due;
  push.within = null;
}
