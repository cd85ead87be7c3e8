import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Permanent } from '../../../clients/typescript/work/parked.ts';
import type { WorkContext, WorkEvent } from '../../../clients/typescript/work/context.ts';
import { FakeSvc } from '../../../clients/typescript/testing/fake-svc.ts';

const Order = z.object({ order: z.number() });
const orders = { payload: Order };

const acts: string[] = [];

/** Charges once, asks, ships once. */
async function bot(
  { payload }: WorkEvent<z.infer<typeof Order>>,
  ctx: WorkContext,
): Promise<unknown> {
  const bind = { order: payload.order };
  await ctx.once('charge', () => void acts.push(`charged ${payload.order}`));
  const answer = await ctx.ask.approval('order.ship', `Ship ${payload.order}`, { bind });
  ctx.spend(answer);
  return ctx.once('ship', () => ({ shipped: true }));
}

describe('FakeSvc', () => {
  it('parks, wakes and spends, and runs steps once', async () => {
    acts.length = 0;
    const fake = new FakeSvc();
    const id = fake.deliver('shop', 'order.paid', { order: 7 });
    expect((await fake.run(bot, orders)).map(({ outcome }) => outcome)).toEqual(['parked']);
    expect(fake.event(id).status).toBe('waiting');
    expect(fake.requests).toMatchObject([{ action: 'order.ship', bind: { order: 7 } }]);
    const request = fake.decide('approved');
    const [finished] = await fake.run(bot, orders);
    expect(finished?.outcome).toBe('acked');
    expect(fake.event(id)).toMatchObject({ status: 'done', result: { shipped: true } });
    expect(fake.requests).toMatchObject([{ request_id: request, spent_by: id }]);
    expect(acts).toEqual(['charged 7']);
  });

  it.each([
    ['denied', async (fake: FakeSvc) => void fake.decide('denied')],
    ['expired', (fake: FakeSvc) => fake.advance('24h')],
  ])('lets a person or the clock say no: %s', async (status, say) => {
    const fake = new FakeSvc();
    const id = fake.deliver('shop', 'order.paid', { order: 8 });
    await fake.run(bot, orders);
    await say(fake);
    await fake.run(bot, orders);
    expect(fake.event(id).result).toMatchObject({ status, comment: null });
    expect(() => fake.decide()).toThrow('No request is open.');
  });

  it('ends what does not fit the schema at once, and says where', async () => {
    const fake = new FakeSvc();
    const ids = [{ order: '7' }, {}, null].map((one) => fake.deliver('shop', 'order.paid', one));
    const outcomes = (await fake.run(bot, orders)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['dead', 'dead', 'dead']);
    const reasons = ids.map((id) => fake.event(id).reason);
    expect(reasons[0]).toContain('payload.order: ');
    expect(reasons[1]).toContain('payload.order: ');
    expect(reasons[2]).toContain('payload: ');
  });

  it('decides by a policy at once', async () => {
    const fake = new FakeSvc({
      policy: ({ action }) => (action === 'order.ship' ? 'approved' : null),
    });
    const id = fake.deliver('shop', 'order.paid', { order: 9 });
    await fake.run(bot, orders);
    expect(fake.event(id)).toMatchObject({ status: 'done', result: { shipped: true } });
  });

  it('tries again after a pause, and gives up after the fifth time or at once', async () => {
    const fake = new FakeSvc();
    const [again, never] = [fake.deliver('a', 'x'), fake.deliver('b', 'x')];
    const handler = ({ id }: WorkEvent): never => {
      throw id === never ? new Permanent('No such order.') : new Error('boom');
    };
    await fake.run(handler);
    expect(fake.event(again)).toMatchObject({ status: 'failed', attempts: 1, reason: 'boom' });
    expect(fake.event(never)).toMatchObject({ status: 'dead', reason: 'No such order.' });
    expect(await fake.run(handler)).toEqual([]);
    for (const pause of ['30s', '1m', '2m', '4m']) {
      await fake.advance(pause);
      await fake.run(handler);
    }
    expect(fake.event(again)).toMatchObject({ status: 'dead', attempts: 5 });
  });

  it('takes the lease from a handler that the clock passes', async () => {
    const fake = new FakeSvc();
    const id = fake.deliver('a', 'x');
    const seen: boolean[] = [];
    const slow = async (_event: WorkEvent, { signal }: WorkContext): Promise<void> => {
      await fake.advance('10m');
      seen.push(signal.aborted);
    };
    const [finished] = await fake.run(slow, { max: 1 });
    expect([finished?.outcome, seen]).toEqual(['lost', [true]]);
    expect(fake.event(id)).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('sits out calls that nobody answers', async () => {
    const fake = new FakeSvc();
    const id = fake.deliver('a', 'x');
    fake.goAway(3);
    await fake.run(() => 'done');
    expect(fake.event(id)).toMatchObject({ status: 'done', result: 'done' });
  });

  it('waits by its own clock', async () => {
    const { svc } = new FakeSvc();
    expect(await svc.inbox.wait({ timeout: 600_000 })).toBeNull();
    await expect(svc.ask.approval('deploy', 'v2', { wait: 60_000 })).rejects.toMatchObject({
      name: 'NotApproved',
      answer: { status: 'pending' },
    });
  });

  it('says what it does not play', async () => {
    const { svc } = new FakeSvc();
    await expect(svc.route.list()).rejects.toMatchObject({
      code: 'NOT_PLAYED',
      message: "FakeSvc doesn't play GET routes.",
    });
  });
});
