import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepUp } from '../../gateway/upkeep.ts';
import { caller, type Call } from '../helpers/calls.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { EventModel } from '../helpers/event-model.ts';

const KEYS = 3;
const EVENTS = 2;

let clock: FakeClock;
let gateway: TestGateway;
let url: string;
const calls: Call[] = [];
let deliveries = 0;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  url = await gateway.addSource({ name: 'open' });
  for (let key = 0; key < KEYS; key += 1) {
    const apiKey = await gateway.key('inbox:read', 'inbox:write');
    calls.push((await caller(gateway, apiKey)).call);
  }
});
afterAll(() => gateway.stop());

interface Model {
  readonly events: EventModel[];
}

interface Real {
  readonly ids: string[];
  /** Every lease ever given, by event. */
  readonly leases: string[][];
}

type Which = 'none' | 'newest' | 'older' | 'other event';
type Step = { readonly name: string } & Partial<{
  key: number;
  event: number;
  lease: Which;
  seconds: number;
  retry: boolean;
}>;

function chosenLease(real: Real, event: number, which: Which | undefined): string | undefined {
  const own = real.leases[event] ?? [];
  if (which === 'newest') return own.at(-1);
  if (which === 'older') return own.at(-2) ?? 'lse_never_given';
  if (which === 'other event') return real.leases[1 - event]?.at(-1) ?? 'lse_never_given';
  return undefined;
}

/** Outside a test block, where the commands run. */
function same(actual: unknown, expected: unknown): void {
  assert.deepStrictEqual(actual, expected);
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly step: Step;
  constructor(step: Step) {
    this.step = step;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const { key = 0, event = 0 } = this.step;
    for (const one of model.events) one.pass(clock.now());
    const state = model.events[event];
    const event_id = real.ids[event];
    const call = calls[key];
    if (!state || !event_id || !call) throw new Error('out of range');
    const { said, expected } = await this.act(state, call, real, event_id);
    same(said, expected);
    await compare(model, real);
  }

  /** Does the step to the gateway and to the model; returns what each said. */
  private async act(
    state: EventModel,
    call: Call,
    real: Real,
    event_id: string,
  ): Promise<{ said: string; expected: string }> {
    const { name, key = 0, event = 0, seconds = 30, retry = true } = this.step;
    const lease_id = chosenLease(real, event, this.step.lease);
    const fenced = { event_id, ...(lease_id !== undefined && { lease_id }) };
    const until = clock.now() + seconds * 1000;
    const does: Record<string, () => Promise<{ said: string; expected: string }>> = {
      claim: async () => {
        const expected = state.claim();
        const { code, value } = await call('inbox_claim', { event_id, lease_seconds: seconds });
        if (code !== 'ok') return { said: code, expected };
        const lease = String(value['lease_id']);
        const isNew = !real.leases.flat().includes(lease);
        real.leases[event]?.push(lease);
        state.claimed(key, lease, until);
        return { said: isNew ? code : 'a lease given before', expected };
      },
      ack: async () => {
        const { code } = await call('inbox_ack', fenced);
        return { said: code, expected: state.ack(key, lease_id) };
      },
      nack: async () => {
        const { code } = await call('inbox_nack', { ...fenced, reason: 'model', retry });
        return { said: code, expected: state.nack(key, lease_id, retry, clock.now()) };
      },
      extend: async () => {
        const { code } = await call('inbox_extend', { ...fenced, lease_seconds: seconds });
        return { said: code, expected: state.extend(key, lease_id, until) };
      },
      requeue: async () => {
        const { code } = await call('inbox_requeue', { event_id });
        return { said: code, expected: state.requeue() };
      },
      time: () => {
        clock.advance(seconds * 1000);
        return Promise.resolve({ said: 'ok', expected: 'ok' });
      },
      upkeep: async () => {
        const project = await gateway.gateway.projects.find(gateway.projectId);
        if (project) await keepUp(project, clock);
        return { said: 'ok', expected: 'ok' };
      },
    };
    return (await does[name]?.()) ?? { said: 'nothing', expected: name };
  }

  toString = () => JSON.stringify(this.step);
}

async function compare(model: Model, real: Real): Promise<void> {
  const seen = new Map<string, unknown>();
  for (const status of ['pending', 'claimed', 'done', 'failed', 'dead']) {
    const { value } =
      (await calls[0]?.('inbox_list', { status, source: 'open', since: runSince })) ?? {};
    for (const item of (value?.['items'] ?? []) as Record<string, unknown>[]) {
      expect(seen.has(String(item['id']))).toBe(false);
      const { attempts, retry_at } = item;
      seen.set(String(item['id']), { status: item['status'], listed: status, attempts, retry_at });
    }
  }
  model.events.forEach((event, index) => {
    event.pass(clock.now());
    const retryAt = event.status === 'failed' ? new Date(event.due ?? 0).toISOString() : null;
    const { status, attempts } = event;
    expect(seen.get(real.ids[index] ?? '')).toEqual({
      status,
      listed: status,
      attempts,
      retry_at: retryAt,
    });
  });
}

let runSince = '';

async function fresh(): Promise<{ model: Model; real: Real }> {
  clock.advance(1000);
  runSince = new Date(clock.now()).toISOString();
  const ids: string[] = [];
  for (let event = 0; event < EVENTS; event += 1) {
    deliveries += 1;
    const { body } = await gateway.deliver(url, `model ${deliveries}`);
    ids.push(String(body['event_id']));
  }
  const model = { events: ids.map(() => new EventModel()) };
  return { model, real: { ids, leases: ids.map(() => []) } };
}

const key = fc.nat({ max: KEYS - 1 });
const event = fc.nat({ max: EVENTS - 1 });
const lease = fc.constantFrom<Which>('none', 'none', 'newest', 'newest', 'older', 'other event');
const seconds = fc.constantFrom(30, 31, 60, 300);
const step = (name: string, fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields).map((rest) => new Command({ name, ...rest }));

const commands = fc.commands(
  [
    step('claim', { key, event, seconds }),
    step('claim', { key, event, seconds }),
    step('ack', { key, event, lease }),
    step('nack', { key, event, lease, retry: fc.constantFrom(true, true, true, false) }),
    step('extend', { key, event, lease, seconds }),
    step('requeue', { event }),
    step('time', { seconds: fc.constantFrom(1, 29, 30, 31, 60, 240) }),
    step('time', { seconds: fc.constantFrom(30, 60) }),
    step('upkeep', {}),
  ],
  { maxCommands: 30, size: 'max' },
);

describe('claim, ack, nack, extend and requeue, by several keys as time passes', () => {
  it('do what the model does', async () => {
    const property = fc.asyncProperty(commands, async (sequence) => {
      const { model, real } = await fresh();
      await fc.asyncModelRun(() => ({ model, real }), sequence);
    });
    await fc.assert(property, {
      // Fixed: with some seeds no sequence reaches a dead event, and the last check below would fail by chance.
      seed: 1,
      numRuns: 120,
      interruptAfterTimeLimit: 40_000,
      markInterruptAsFailure: false,
    });
    const admin = await caller(gateway, gateway.apiKey);
    const verified = await admin.call('ledger_verify', {});
    expect(verified.value).toMatchObject({ ok: true });
    // The model must have been somewhere: a run in which nothing was ever finished or died would prove little.
    for (const status of ['done', 'dead']) {
      const list = await admin.call('inbox_list', { status });
      expect((list.value['items'] as unknown[]).length).toBeGreaterThan(0);
    }
  });
});
