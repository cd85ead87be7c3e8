import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NotApproved } from '../../../clients/typescript/ask.ts';
import type { Finished, WorkOptions } from '../../../clients/typescript/work/worker.ts';
import { Permanent } from '../../../clients/typescript/work/parked.ts';
import { Svc } from '../../../clients/typescript/svc.ts';
import { SvcError } from '../../../clients/typescript/core/errors.ts';
import { promised } from './promised.ts';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { ParkStage } from '../../shared/operations/inbox/park-stage.ts';

let stage: ParkStage;
let svc: Svc;
let notes: string[];
let finished: Finished[];
beforeEach(async () => {
  stage = await ParkStage.start();
  notes = [];
  finished = [];
  svc = clientOf(stage.test.url);
});
afterEach(() => stage.stop());

function clientOf(gateway: string): Svc {
  const { apiKey } = stage.test;
  return new Svc({ apiKey, gateway, note: (text) => notes.push(text) });
}

/** For one event, so that no wait runs out. */
const once = (more: WorkOptions = {}): WorkOptions => ({
  max: 1,
  onFinished: (one) => finished.push(one),
  ...more,
});

const outcomes = (): string[] => finished.map(({ outcome }) => outcome);

describe('a worker', () => {
  it('acks with what the handler returned', async () => {
    const id = await stage.arrived();
    const heard = z.object({ text: z.string() }).transform(({ text }) => ({ heard: text }));
    await svc.work({}, ({ payload }) => payload, { ...once(), payload: heard });
    expect(outcomes()).toEqual(['acked']);
    expect(await stage.event(id)).toMatchObject({ status: 'done', result: { heard: '{"n":1}' } });
  });

  it('ends an event whose payload is not what its schema says, and names the place', async () => {
    const id = await stage.arrived();
    const runs: unknown[] = [];
    const payload = z.object({ pull: z.object({ sha: z.string() }) });
    await svc.work({}, (event) => void runs.push(event), { ...once(), payload });
    expect([outcomes(), runs]).toEqual([['dead'], []]);
    const { status, reason } = await stage.event(id);
    expect(status).toBe('dead');
    expect(reason).toMatch(/^The payload doesn't fit\.\npayload\.pull: /);
  });

  it('gives an event back when the handler throws, and ends one that can never work', async () => {
    const [first, second] = [await stage.arrived(), await stage.arrived()];
    await svc.work(
      {},
      ({ id }) => {
        if (id === first) throw new Error('The provider is down.');
        throw new Permanent('No such order.');
      },
      once({ max: 2 }),
    );
    expect(outcomes()).toEqual(['retry', 'dead']);
    expect(await stage.event(first)).toMatchObject({
      status: 'failed',
      attempts: 1,
      reason: 'The provider is down.',
    });
    expect(await stage.event(second)).toMatchObject({ status: 'dead', reason: 'No such order.' });
  });

  it('tells what a handler threw, unless the program takes that itself', async () => {
    const id = await stage.arrived();
    await svc.work({}, () => Promise.reject(new TypeError('boom')), { max: 1 });
    expect(notes).toEqual([
      expect.stringMatching(
        new RegExp(
          `^The handler of ${id} \\(webhook\\.received\\) failed\\. It's tried again at \\S+\\.\\nTypeError: boom\\n +at `,
        ),
      ),
    ]);
  });

  it('ends at once where there is no key', async () => {
    const env = { SVC_HOME: '/tmp/svc-nobody-here' };
    const keyless = new Svc({ env, note: (text) => notes.push(text) });
    await expect(keyless.work({}, () => undefined)).rejects.toMatchObject({
      name: 'AuthenticationError',
      code: 'UNAUTHENTICATED',
      hint: expect.stringContaining('svc up') as string,
    });
    expect(notes).toEqual([]);
  });

  it('handles as many events at once as it is told', async () => {
    for (let n = 0; n < 6; n += 1) await stage.arrived();
    let [running, most] = [0, 0];
    const full = promised();
    await svc.work(
      {},
      async () => {
        running += 1;
        most = Math.max(most, running);
        if (running === 3) full.resolve();
        await full.promise;
        running -= 1;
      },
      once({ concurrency: 3, max: 6 }),
    );
    expect(most).toBe(3);
    expect(outcomes()).toHaveLength(6);
  });

  it.each([
    [{ leaseSeconds: 60, beatSeconds: 60 }, /beatSeconds \(60\)/],
    [{ leaseSeconds: 5 }, /leaseSeconds/],
    [{ concurrency: 0 }, /concurrency/],
  ])('refuses %j at the start', (options, message) => {
    expect(() => svc.work({}, () => undefined, options)).toThrow(message);
  });

  it.each([
    [{ typ: 'order.*' }, 'A filter has no `typ`. Did you mean `type`?'],
    [{ soruce: 'shop' }, 'A filter has no `soruce`. Did you mean `source`?'],
    [{ unrelated: 1 }, 'A filter has no `unrelated`.'],
  ])('refuses the misspelt filter %j, which would fit every event', async (filter, message) => {
    expect(() => svc.work(filter as object, () => undefined)).toThrow(message);
    await expect(svc.inbox.wait(filter as object)).rejects.toThrow(message);
    // The compiler refuses it before.
    // @ts-expect-error -- it's `type`
    expect(() => svc.work({ typ: 'order.*' }, () => undefined)).toThrow(SvcError);
    // @ts-expect-error -- it's `type`
    await expect(svc.inbox.wait({ typ: 'order.*' })).rejects.toThrow(SvcError);
  });

  it('says in a line each what it waits for, claims and finishes', async () => {
    const ids = [await stage.arrived(), await stage.arrived(), await stage.arrived()];
    const lines: string[] = [];
    await svc.work(
      { type: 'webhook.*' },
      async ({ id }, { ask }) => {
        if (id === ids[1]) throw new Permanent('No such\norder \u001b[31m.');
        if (id === ids[2]) await ask.human('Which region?');
      },
      once({ max: 3, log: (line) => lines.push(line) }),
    );
    const [first, second, third] = ids;
    const { waiting_for: waits = [] } = await stage.event(String(third));
    expect(lines).toEqual([
      'Waiting for webhook.* events …',
      `${first} claimed: webhook.received from open`,
      `${first} done`,
      `${second} claimed: webhook.received from open`,
      `${second} dead: No such order �[31m.`,
      `${third} claimed: webhook.received from open`,
      `${third} parked until ${waits[0]?.id}`,
    ]);
  });

  it('finishes what it began when it is stopped', async () => {
    const id = await stage.arrived();
    const [begun, goOn, stop] = [promised(), promised(), new AbortController()];
    const working = svc.work(
      {},
      async () => {
        begun.resolve();
        await goOn.promise;
      },
      { signal: stop.signal },
    );
    await begun.promise;
    stop.abort();
    goOn.resolve();
    await working;
    expect(await stage.event(id)).toMatchObject({ status: 'done' });
  });

  it('stopped hard, gives its events back uncounted', async () => {
    const id = await stage.arrived();
    const stop = new AbortController();
    const working = svc.work(
      {},
      async (_event, { signal }) => {
        stop.abort();
        await new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error);
        });
      },
      once({ hardStop: stop.signal }),
    );
    await working;
    expect(outcomes()).toEqual(['returned']);
    expect(await stage.event(id)).toMatchObject({ status: 'pending', attempts: 0 });
  });

  it('claims once, although the answer of the claim was lost', async () => {
    const proxy = await LossyProxy.open(stage.test.url);
    const id = await stage.arrived();
    proxy.loseAnswersTo('POST /v1/inbox/claim');
    await clientOf(proxy.url).work({}, () => 'done', once());
    await proxy.down();
    expect(proxy.lost).toBe(1);
    expect(outcomes()).toEqual(['acked']);
    const claims = (await stage.operations(id)).filter((one) => one === 'inbox_claim');
    expect(claims).toHaveLength(1);
  });
});

describe('a handler that asks', () => {
  it('is parked, and goes on from the top with the answer', async () => {
    const id = await stage.arrived();
    const runs: unknown[] = [];
    const bot = (): Promise<void> =>
      svc.work(
        {},
        async (_event, ctx) => {
          const review = await ctx.once('review', () => ({ review: runs.push('reviewed') }));
          const answer = await ctx.ask.approval('pr.merge', 'Merge #7', { bind: { sha: 'a1' } });
          runs.push(answer.status);
          ctx.spend(answer);
          return { ...review, comment: answer.comment, woken: ctx.resumed?.parks };
        },
        once(),
      );
    await bot();
    expect(outcomes()).toEqual(['parked']);
    const { waiting_for: waits = [] } = await stage.event(id);
    const request = waits[0]?.id ?? '';
    await stage.people.decide(request, { verb: 'approve', comment: 'go' });
    await bot();
    expect(runs).toEqual(['reviewed', 'approved']);
    expect(outcomes()).toEqual(['parked', 'acked']);
    expect(await stage.event(id)).toMatchObject({
      status: 'done',
      result: { review: 1, comment: 'go', woken: 1 },
    });
    expect(await svc.request.status({ request_id: request })).toMatchObject({ spent_by: id });
    expect(notes).toEqual([]);
  });

  it('is told loudly when it swallows the parking, and the event stays parked', async () => {
    const id = await stage.arrived();
    let wasAborted = false;
    await svc.work(
      {},
      async (_event, ctx) => {
        const answer = await ctx.ask.human('Which region?').catch(() => null);
        wasAborted = ctx.signal.aborted;
        return { answer };
      },
      once(),
    );
    expect(outcomes()).toEqual(['parked']);
    expect(wasAborted).toBe(true);
    expect(notes).toEqual([expect.stringContaining('but its handler went on and returned')]);
    expect(await stage.event(id)).toMatchObject({ status: 'waiting' });
  });

  it('acts on no denial, even if it never looks at the answer', async () => {
    const id = await stage.arrived();
    const seen: unknown[] = [];
    const bot = (): Promise<void> =>
      svc.work(
        {},
        async (_event, { ask }) => {
          const answer = await ask.approval('pr.merge', 'Merge #8').catch((error: unknown) => {
            seen.push(error instanceof NotApproved && error.answer.status);
            throw error;
          });
          if (answer) seen.push('merged');
        },
        once(),
      );
    await bot();
    const { waiting_for: waits = [] } = await stage.event(id);
    const request_id = waits[0]?.id ?? '';
    await stage.people.decide(request_id, { verb: 'deny', comment: 'Not today.' });
    await bot();
    expect(seen).toEqual([false, 'denied']);
    expect(outcomes()).toEqual(['parked', 'acked']);
    expect(finished[1]).not.toHaveProperty('error');
    const result = { status: 'denied', comment: 'Not today.' };
    expect(await stage.event(id)).toMatchObject({ status: 'done', result });
    expect(notes).toEqual([]);
  });

  it('uses up what it marked before somebody said no to the next question', async () => {
    const id = await stage.arrived();
    const bot = (): Promise<void> =>
      svc.work(
        {},
        async (_event, { ask, spend }) => {
          spend(await ask.approval('pay', 'Pay 5', { bind: { amount: 5 } }));
          await ask.approval('pay', 'Pay 7', { bind: { amount: 7 } });
        },
        once(),
      );
    const asked: string[] = [];
    for (const verb of ['approve', 'deny'] as const) {
      await bot();
      const { waiting_for: waits = [] } = await stage.event(id);
      asked.push(waits[0]?.id ?? '');
      await stage.people.decide(asked.at(-1) ?? '', { verb });
    }
    await bot();
    expect(outcomes()).toEqual(['parked', 'parked', 'acked']);
    const spent = await svc.request.status({ request_id: asked[0] ?? '' });
    expect(spent).toMatchObject({ spent_by: id });
  });

  it('parks until a time', async () => {
    const id = await stage.arrived();
    await svc.work({}, (_event, { park }) => park('+2h', { state: { step: 2 } }), once());
    expect(await stage.event(id)).toMatchObject({ status: 'waiting' });
    stage.clock.advance(7_200_000);
    const states: unknown[] = [];
    await svc.work({}, (_event, { resumed }) => void states.push(resumed?.state), once());
    expect(states).toEqual([{ step: 2 }]);
  });

  it('keeps its state under the event', async () => {
    await stage.arrived();
    await svc.work({}, (_event, { state }) => state.save({ step: 3 }), once());
    await stage.arrived();
    const found: unknown[] = [];
    await svc.work(
      {},
      async (_event, { state }) => {
        found.push(await state.load());
        await state.save({ step: 1 });
        found.push(await state.load());
      },
      once(),
    );
    expect(found).toEqual([null, { step: 1 }]);
  });
});
