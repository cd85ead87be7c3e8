import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { FairQueue, laneOf } from '../../../shared/admission/fair-queue.ts';

const ANY = (): boolean => true;
const full = ({ lane }: { readonly lane: { readonly holder: string } }): boolean =>
  lane.holder !== 'prj_a';

function known(project: string, caller = ''): ReturnType<typeof laneOf> {
  return laneOf('known', project, caller);
}

function stranger(address: string): ReturnType<typeof laneOf> {
  return laneOf('strangers', address, '');
}

/** Takes what may go until nothing is left; each costs as many milliseconds as `costOf` says. */
function drain(queue: FairQueue<string>, costOf: (job: string) => number = () => 1): string[] {
  const order: string[] = [];
  for (let next = queue.shift(ANY); next; next = queue.shift(ANY)) {
    order.push(next.job);
    queue.charge(next.lane, costOf(next.job));
  }
  return order;
}

/** Frees all that nothing holds. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  await setImmediate();
  (runInNewContext('gc') as () => void)();
}

/** Lets a job through the queue. */
function pass(queue: FairQueue<object>): WeakRef<object> {
  queue.push(known('prj_a'), {});
  queue.push(known('prj_a'), {});
  const job = queue.shift(ANY)?.job;
  if (!job) throw new Error('The queue is empty.');
  return new WeakRef(job);
}

describe('the line of requests', () => {
  it('keeps nothing of a request in memory that has left it', async () => {
    const queue = new FairQueue<object>();
    const job = pass(queue);
    await collectGarbage();
    expect(job.deref()).toBeUndefined();
    expect(queue.isEmpty).toBe(false);
  });

  it('serves a neighbour between the requests of a flood', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 100; n += 1) queue.push(known('prj_a'), `a${n}`);
    queue.push(known('prj_b'), 'b');
    expect(drain(queue).slice(0, 3)).toContain('b');
  });

  it('counts time, not requests: one that takes ten times as long waits for ten of the others', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 4; n += 1) queue.push(known('prj_a'), 'long');
    for (let n = 0; n < 40; n += 1) queue.push(known('prj_b'), 'short');
    const order = drain(queue, (job) => (job === 'long' ? 10 : 1));
    expect(order.slice(0, 22).filter((job) => job === 'long')).toHaveLength(2);
  });

  it('gives half of the time to strangers, however many addresses they have', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 1000; n += 1) queue.push(stranger(`192.0.2.${n}`), 'stranger');
    for (let n = 0; n < 10; n += 1) queue.push(known('prj_a'), 'known');
    expect(
      drain(queue)
        .slice(0, 20)
        .filter((job) => job === 'known'),
    ).toHaveLength(10);
  });

  it('serves addresses of strangers in turn', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 100; n += 1) queue.push(stranger('192.0.2.1'), `flood ${n}`);
    queue.push(stranger('192.0.2.2'), 'neighbour');
    expect(drain(queue).indexOf('neighbour')).toBeLessThan(3);
  });

  it('serves the callers of one project in turn', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 100; n += 1) queue.push(known('prj_a', 'key 1'), 'one');
    queue.push(known('prj_a', 'key 2'), 'other');
    expect(drain(queue).indexOf('other')).toBeLessThan(3);
  });

  it('serves the agents that share a key in turn, and no other key waits longer for their number', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 100; n += 1) queue.push(laneOf('known', 'prj_a', 'key 1', 'loop'), 'loop');
    for (let n = 0; n < 9; n += 1)
      queue.push(laneOf('known', 'prj_a', 'key 1', `agent ${n}`), 'agent');
    queue.push(laneOf('known', 'prj_a', 'key 2', 'other'), 'other');
    const order = drain(queue);
    expect(order.indexOf('other')).toBeLessThan(3);
    expect(order.indexOf('agent')).toBeLessThan(4);
    expect(order.slice(0, 12).filter((job) => job === 'agent')).toHaveLength(9);
  });

  it('saves nothing up: who pauses gets no more than their share afterwards', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 50; n += 1) queue.push(known('prj_a'), 'a');
    for (let n = 0; n < 40; n += 1) {
      const next = queue.shift(ANY);
      if (next) queue.charge(next.lane, 5);
    }
    for (let n = 0; n < 10; n += 1) queue.push(known('prj_b'), 'b');
    const order = drain(queue, () => 5);
    expect(order.slice(0, 10).filter((job) => job === 'a').length).toBeGreaterThanOrEqual(4);
  });

  it('passes over a holder without a place, but not over the rest of what it has begun', () => {
    const queue = new FairQueue<string>();
    queue.push(known('prj_a'), 'new');
    queue.push(known('prj_b'), 'other');
    expect(queue.shift(full)?.job).toBe('other');
    expect(queue.shift(full)).toBeNull();
    queue.push(known('prj_a'), 'rest', true);
    expect(queue.shift(full)?.job).toBe('rest');
    expect(queue.shift(ANY)?.job).toBe('new');
    expect(queue.isEmpty).toBe(true);
  });

  it('drops who left the line', () => {
    const queue = new FairQueue<string>();
    const left = queue.push(known('prj_a'), 'left');
    const rest = queue.push(known('prj_a'), 'left too', true);
    queue.push(known('prj_a'), 'stays');
    left.isWaiting = false;
    rest.isWaiting = false;
    expect(drain(queue)).toEqual(['stays']);
  });

  it('keeps the order of one caller, however long the line was', () => {
    const queue = new FairQueue<string>();
    const jobs = Array.from({ length: 1000 }, (_, n) => `${n}`);
    for (const job of jobs) queue.push(known('prj_a'), job);
    expect(drain(queue)).toEqual(jobs);
  });

  it('forgets holders that are idle', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 5000; n += 1) {
      queue.push(stranger(`${n}`), `${n}`);
      drain(queue);
    }
    queue.push(stranger('0'), 'again');
    expect(drain(queue)).toEqual(['again']);
  });
});
