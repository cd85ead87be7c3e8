import { setImmediate as turn } from 'node:timers/promises';
import assert from 'node:assert/strict';
import { PUSHED, refused, type Said } from './project-model.ts';
import type { Pair, Stage } from './stage.ts';
import type { OnEvent, Pick, Steps, Which } from './steps.ts';

const CLAIMED = ['lease_id', 'lease_expires_at', 'id', 'status', 'attempts'];

export async function deliver(
  { world, model, names }: Stage,
  { source, body, providerId }: { source: string; body: string; providerId: string | null },
): Promise<Pair> {
  const answer = await world.deliver(source, body, providerId);
  const expected = model.deliver({ source, body, providerId });
  const { status, event_id } = answer.value;
  return { said: { code: answer.code, value: { status, event_id: names.in(event_id) } }, expected };
}

export async function deliverAgain(
  stage: Stage,
  step: Steps['deliver again'],
): Promise<Pair | null> {
  const { model } = stage;
  const came = model.inbox.events.filter(({ source }) => source !== 'service');
  const event = came.at(-1 - step.nth);
  if (!event) return null;
  const edge = model.inbox.rememberedUntil(event);
  if (step.besideMs !== null && edge > model.now) moveClock(stage, edge + step.besideMs);
  return deliver(stage, event);
}

export function moveClock({ world, model }: Stage, wallMs: number): void {
  world.setClock(wallMs);
  model.clock.set(wallMs);
}

/** The same delivery several times at once: one event. */
export async function deliverAtOnce(stage: Stage, step: Steps['deliver at once']): Promise<Pair> {
  const { source, body, providerId } = step;
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => stage.world.deliver(source, body, providerId)),
  );
  const expected = answers.map(() => stage.model.deliver({ source, body, providerId }).value);
  const said = answers
    .map(({ value: { status, event_id } }) => ({ status, event_id: stage.names.in(event_id) }))
    .toSorted((a, b) => String(a.status).localeCompare(String(b.status)));
  return { said: ok({ answers: said }), expected: ok({ answers: expected }) };
}

export function claim(stage: Stage, step: OnEvent): Promise<Pair> {
  const name = stage.event(step.event);
  return stage.write(
    step,
    async (from) => {
      const input = { event_id: stage.names.idOf(name, 'evt'), lease_seconds: step.seconds };
      const answer = await stage.world.call(stage.apiKeyOf(from), 'inbox_claim', input, from);
      const expected = stage.model.claim(from, name, step.seconds);
      keepLease(stage, name, expected);
      return { said: stage.said(answer, CLAIMED), expected };
    },
    name,
  );
}

function keepLease({ leases }: Stage, name: string, expected: Said): void {
  const lease = expected.value['lease_id'];
  const given = leases.get(name) ?? [];
  if (typeof lease === 'string' && !given.includes(lease)) leases.set(name, [...given, lease]);
}

/** One event, all workers at once: one of them has it. */
export async function claimAtOnce(stage: Stage, step: Steps['claim at once']): Promise<Pair> {
  const name = stage.event(step.event);
  const input = { event_id: stage.names.idOf(name, 'evt'), lease_seconds: step.seconds };
  const answers = await Promise.all(
    stage.workers.map(({ apiKey }) => stage.world.call(apiKey, 'inbox_claim', input)),
  );
  const said = stage.workers.map((key, nth) => ({
    from: { key: stage.keyName(key), once: null },
    said: stage.said(answers[nth] ?? refused('INTERNAL'), CLAIMED),
  }));
  // Whichever key won, the others came after it.
  const order = said.toSorted(
    (a, b) => Number(b.said.code === 'ok') - Number(a.said.code === 'ok'),
  );
  const expected = order.map(({ from }) => stage.model.claim(from, name, step.seconds));
  for (const one of expected) keepLease(stage, name, one);
  return {
    said: ok({ answers: order.map((one) => one.said) }),
    expected: ok({ answers: expected }),
  };
}

/** The same call under the same Idempotency-Key, twice at once: one effect, and the second waits or gets the same answer. */
export async function repeatAtOnce(stage: Stage, step: Steps['repeat at once']): Promise<Pair> {
  const name = stage.event(step.event);
  const once = `at once ${stage.next()}`;
  return stage.write({ key: step.key, once }, async (from) => {
    const input = { event_id: stage.names.idOf(name, 'evt'), lease_seconds: step.seconds };
    const call = () => stage.world.call(stage.apiKeyOf(from), 'inbox_claim', input, from);
    const [first, second] = await Promise.all([call(), call()]);
    const expected = stage.model.claim(from, name, step.seconds);
    keepLease(stage, name, expected);
    if (second.code === 'IDEMPOTENCY_IN_PROGRESS') stage.coverage.code(second.code);
    else
      assert.deepStrictEqual(
        stage.said(second, CLAIMED),
        stage.model.claim(from, name, step.seconds),
      );
    return { said: stage.said(first, CLAIMED), expected };
  });
}

export function ack(stage: Stage, step: OnEvent): Promise<Pair> {
  const { name, lease, fenced } = target(stage, step);
  return stage.write(
    step,
    async (from) => {
      const answer = await stage.world.call(stage.apiKeyOf(from), 'inbox_ack', fenced, from);
      const expected = stage.model.ack(from, name, lease);
      return { said: stage.said(answer, ['event_id', 'status', 'acked_at']), expected };
    },
    name,
  );
}

export function nack(stage: Stage, step: OnEvent, retry: boolean): Promise<Pair> {
  const { name, lease, fenced } = target(stage, step);
  return stage.write(
    step,
    async (from) => {
      const input = { ...fenced, reason: 'simulated', retry };
      const answer = await stage.world.call(stage.apiKeyOf(from), 'inbox_nack', input, from);
      const expected = stage.model.nack(from, name, lease, retry);
      return { said: stage.said(answer, ['event_id', 'status', 'attempts', 'retry_at']), expected };
    },
    name,
  );
}

export function extend(stage: Stage, step: OnEvent): Promise<Pair> {
  const { name, lease, fenced } = target(stage, step);
  return stage.write(
    step,
    async (from) => {
      const input = { ...fenced, lease_seconds: step.seconds };
      const answer = await stage.world.call(stage.apiKeyOf(from), 'inbox_extend', input, from);
      const expected = stage.model.extend(from, name, lease, step.seconds);
      return { said: stage.said(answer, ['event_id', 'lease_id', 'lease_expires_at']), expected };
    },
    name,
  );
}

export function requeue(stage: Stage, step: OnEvent): Promise<Pair> {
  const { name, fenced } = target(stage, step);
  return stage.write(
    step,
    async (from) => {
      const { event_id } = fenced;
      const answer = await stage.world.call(
        stage.apiKeyOf(from),
        'inbox_requeue',
        { event_id },
        from,
      );
      return {
        said: stage.said(answer, ['event_id', 'status']),
        expected: stage.model.requeue(from, name),
      };
    },
    name,
  );
}

interface Target {
  readonly name: string;
  readonly lease: string | undefined;
  readonly fenced: Readonly<Record<string, string>>;
}

function target(stage: Stage, step: { readonly event: Pick; readonly lease: Which }): Target {
  const name = stage.event(step.event);
  const event_id = stage.names.idOf(name, 'evt');
  const lease = leaseOf(stage, name, step.lease);
  if (lease === undefined) return { name, lease, fenced: { event_id } };
  return { name, lease, fenced: { event_id, lease_id: stage.names.find(lease) ?? lease } };
}

function leaseOf({ leases }: Stage, name: string, which: Which): string | undefined {
  const own = leases.get(name) ?? [];
  if (which === 'newest') return own.at(-1);
  if (which === 'older') return own.at(-2) ?? 'lse_never_given';
  if (which === 'none') return undefined;
  const [, others] = [...leases].find(([other]) => other !== name) ?? [];
  return others?.at(-1) ?? 'lse_never_given';
}

/** Gets the first pending event at once; if there is none, the next one that comes. */
export async function wait(stage: Stage, step: Steps['wait']): Promise<Pair> {
  const key = stage.key(step.key);
  const source = step.source === null ? {} : { source: step.source };
  const call = () =>
    stage.world.call(key.apiKey, 'inbox_wait', { ...source, timeout_seconds: 120 });
  const said = async (answer: ReturnType<typeof call>): Promise<Said> => {
    const { code, value } = await answer;
    const event = value['event'] as { id: string } | null | undefined;
    return { code, value: code === 'ok' ? { event: event ? stage.names.of(event.id) : null } : {} };
  };
  const refusal = stage.refusalOf(key);
  if (refusal) return { said: await said(call()), expected: refusal };
  const expected = stage.model.wait(step.source ?? undefined);
  if (expected.value['event'] !== null) return { said: await said(call()), expected };
  if (step.source === PUSHED) return waitForRouted(stage, key.apiKey);
  const waiting = call();
  await untilWaiting(stage, 1, [waiting]);
  const body = `somebody waits ${stage.next()}`;
  const { said: brought, expected: accepted } = await deliver(stage, {
    source: step.source ?? 'open',
    body,
    providerId: null,
  });
  assert.deepStrictEqual(brought, accepted);
  stage.coverage.state('a wait was woken');
  return { said: await said(waiting), expected: stage.model.wait(step.source ?? undefined) };
}

/** A wait doesn't get an event that a route delivers. */
async function waitForRouted(stage: Stage, apiKey: string): Promise<Pair> {
  const controller = new AbortController();
  const { signal } = controller;
  const input = { source: PUSHED, timeout_seconds: 120 };
  const waiting = stage.world.call(apiKey, 'inbox_wait', input, { signal });
  await untilWaiting(stage, 1, [waiting]);
  const isWaiting = stage.world.project.waits.size === 1;
  controller.abort();
  await Promise.allSettled([waiting]);
  return { said: ok({ isWaiting }), expected: ok({ isWaiting: true }) };
}

/** Resolves when `count` callers wait, or one that should wait has returned. */
export async function untilWaiting(
  { world }: Stage,
  count: number,
  waiting: readonly Promise<unknown>[],
): Promise<void> {
  const state = { isOver: false };
  const over = (): void => {
    state.isOver = true;
  };
  for (const one of waiting) void one.then(over, over);
  while (world.project.waits.size < count && !state.isOver) await turn();
}

/** Waits for a source without events, until it's ended. */
export function waitInVain(
  { world }: Stage,
  apiKey: string,
  signal?: AbortSignal,
): ReturnType<Stage['world']['call']> {
  const input = { source: 'nobody', timeout_seconds: 20 };
  return world.call(apiKey, 'inbox_wait', input, signal && { signal });
}

const WAITS_PER_KEY = 10;

export async function waits(stage: Stage, step: Steps['waits']): Promise<Pair> {
  const key = stage.key(step.key);
  const controller = new AbortController();
  const waiting = Array.from({ length: WAITS_PER_KEY }, () =>
    waitInVain(stage, key.apiKey, controller.signal),
  );
  const refusal = stage.refusalOf(key);
  if (!refusal) await untilWaiting(stage, WAITS_PER_KEY, waiting);
  const { code } = await waitInVain(stage, key.apiKey, controller.signal);
  controller.abort();
  await Promise.allSettled(waiting);
  return { said: refused(code), expected: refusal ?? refused('TOO_MANY_WAITS') };
}

export function ok(value: Said['value']): Said {
  return { code: 'ok', value };
}
