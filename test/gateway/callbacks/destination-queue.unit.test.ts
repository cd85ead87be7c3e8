import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  DestinationQueue,
  type AttemptResult,
} from '../../../gateway/callbacks/destination-queue.ts';
import { Semaphore } from '../../../gateway/lib/semaphore.ts';

interface Item {
  readonly id: string;
  readonly weight: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** More than anything takes that waits for no clock. */
const manyTurns = async (): Promise<void> => {
  for (let n = 0; n < 50; n += 1) await turn();
};
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const never = (): Promise<AttemptResult> => new Promise(() => undefined);

/** Rows in memory, and attempts that end when the test says so. */
class Rows {
  readonly due: string[] = [];
  readonly attempted: string[] = [];
  readonly forgotten: string[] = [];
  readonly queue: DestinationQueue<Item>;
  loads = 0;
  idle = 0;
  under = 0;
  mostUnder = 0;
  /** Ends an attempt; by default well, in the next turn. */
  attempt: (id: string) => Promise<AttemptResult> = async () => {
    await turn();
    return { kind: 'made', well: true, recorded: Promise.resolve() };
  };

  constructor(semaphore = new Semaphore(256), weight = 1) {
    this.queue = new DestinationQueue<Item>(semaphore, {
      load: async (limit, known) => {
        this.loads += 1;
        const all = this.due.slice(0, limit + known.size);
        const unknown = all.filter((id) => !known.has(id));
        await turn();
        return {
          fresh: unknown.slice(0, limit).map((id) => ({ id, weight })),
          more: all.length === limit + known.size || unknown.length > limit,
          passedOver: unknown.length < all.length,
        };
      },
      attempt: async ({ id }) => {
        this.attempted.push(id);
        this.under += 1;
        this.mostUnder = Math.max(this.mostUnder, this.under);
        const result = await this.attempt(id);
        this.under -= 1;
        if (result.kind !== 'made') return result;
        return { ...result, recorded: this.#record(id, result.recorded) };
      },
      onError: (error) => {
        throw error;
      },
      onIdle: () => (this.idle += 1),
      onForgotten: (items) => this.forgotten.push(...items.map(({ id }) => id)),
    });
  }

  async #record(id: string, recorded: Promise<void>): Promise<void> {
    await recorded;
    const index = this.due.indexOf(id);
    if (index >= 0) this.due.splice(index, 1);
  }

  add(count: number, name = 'd'): void {
    for (let n = 0; n < count; n += 1) this.due.push(`${name}${n}`);
  }

  async drained(): Promise<void> {
    for (let turns = 0; this.due.length > 0 && turns < 20_000; turns += 1) await turn();
    await turn();
    await turn();
  }
}

describe('the queue of a destination', () => {
  it('makes each attempt once, over many pages', async () => {
    const rows = new Rows();
    rows.add(1000);
    rows.queue.wake();
    await rows.drained();
    expect(rows.attempted).toHaveLength(1000);
    expect(new Set(rows.attempted).size).toBe(1000);
    expect(rows.mostUnder).toBe(16);
    expect(rows.idle).toBeGreaterThan(0);
  });

  it('makes each once also while it is woken all the time and writing takes long', async () => {
    const rows = new Rows();
    rows.attempt = async () => {
      await turn();
      return { kind: 'made', well: true, recorded: rest(Math.random() * 5) };
    };
    for (let n = 0; n < 300; n += 1) {
      rows.due.push(`w${n}`);
      rows.queue.wake();
      if (n % 3 === 0) await turn();
    }
    await rows.drained();
    expect(rows.attempted.toSorted()).toEqual(
      Array.from({ length: 300 }, (_, n) => `w${n}`).toSorted(),
    );
  });

  it('begins with few at a time, and learns', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const rows = new Rows();
    const ends: ((well: boolean) => void)[] = [];
    rows.attempt = () =>
      new Promise((resolve) =>
        ends.push((well) => resolve({ kind: 'made', well, recorded: Promise.resolve() })),
      );
    rows.add(100);
    rows.queue.wake();
    await manyTurns();
    expect(rows.under).toBe(4);
    ends.shift()?.(true);
    await manyTurns();
    expect(rows.under).toBe(5);
    for (const end of ends.splice(0)) end(false);
    // Five in a row: there is a pause.
    await manyTurns();
    expect(rows.under).toBeLessThan(2);
    await vi.advanceTimersByTimeAsync(100);
    await manyTurns();
    expect(rows.under).toBe(2);
    expect(rows.queue.isSlowed).toBe(true);
    rows.queue.close();
    for (const end of ends.splice(0)) end(true);
    await manyTurns();
    expect(rows.under).toBe(0);
  });

  it('finds one again that was asked for anew while it was being written down', async () => {
    const rows = new Rows();
    const writes: (() => void)[] = [];
    rows.attempt = async () => ({
      kind: 'made',
      well: false,
      recorded: new Promise((resolve) => {
        writes.push(resolve);
      }),
    });
    rows.add(1);
    rows.queue.wake();
    await manyTurns();
    // It is written down, and due again at once.
    rows.due.push('d0');
    rows.queue.wake();
    await manyTurns();
    expect(rows.attempted).toEqual(['d0']);
    writes[0]?.();
    await manyTurns();
    expect(rows.attempted).toEqual(['d0', 'd0']);
    rows.queue.close();
  });

  it('rests when something is not to be sent after all, until it is woken', async () => {
    const rows = new Rows();
    rows.attempt = async () => ({ kind: 'skipped' });
    rows.add(50);
    rows.queue.wake();
    await manyTurns();
    await rest(20);
    expect(rows.loads).toBeLessThan(3);
    expect(rows.idle).toBeGreaterThan(0);
    // Whatever was at hand, with what was skipped.
    expect(rows.forgotten.toSorted()).toEqual(rows.due.toSorted());
    rows.attempt = async () => ({ kind: 'made', well: true, recorded: Promise.resolve() });
    rows.queue.wake();
    await rows.drained();
    expect(rows.due).toEqual([]);
  });

  it('does nothing while nothing is due', async () => {
    const rows = new Rows();
    rows.queue.wake();
    await manyTurns();
    await rest(20);
    expect(rows.loads).toBe(1);
    expect(rows.idle).toBe(1);
  });
});

describe('slots', () => {
  it('are shared out in turn', async () => {
    const semaphore = new Semaphore(4);
    const long = new Rows(semaphore);
    const short = new Rows(semaphore);
    long.add(400);
    short.add(20);
    long.queue.wake();
    await turn();
    await turn();
    short.queue.wake();
    await short.drained();
    expect(short.due).toEqual([]);
    // It got its share, although the other was there first.
    expect(long.due.length).toBeGreaterThan(250);
    await long.drained();
    expect([long.mostUnder, short.mostUnder].every((most) => most <= 4)).toBe(true);
  });

  it('of a project are a share in those of all', async () => {
    const ofAll = new Semaphore(8);
    const noisy = new Semaphore(4, ofAll);
    const queues = Array.from({ length: 10 }, () => new Rows(noisy));
    for (const rows of queues) {
      rows.attempt = never;
      rows.add(10);
      rows.queue.wake();
    }
    await manyTurns();
    expect(queues.reduce((sum, { under }) => sum + under, 0)).toBe(4);
    const other = new Rows(new Semaphore(4, ofAll));
    other.add(50);
    other.queue.wake();
    await other.drained();
    expect(other.attempted).toHaveLength(50);
    expect(other.mostUnder).toBe(4);
  });

  it('take one that is heavier than all of them', async () => {
    const rows = new Rows(new Semaphore(2), 9);
    rows.add(5);
    rows.queue.wake();
    await rows.drained();
    expect(rows.attempted).toHaveLength(5);
    expect(rows.mostUnder).toBe(1);
  });
});
