import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { laneOf, type Lane } from '../../../shared/admission/fair-queue.ts';
import { Ticket, Turns } from '../../../shared/admission/turns.ts';

const PROJECT = laneOf('known', 'prj_a', 'key');
const OTHER = laneOf('known', 'prj_b', 'key');
const STRANGER = laneOf('strangers', '192.0.2.1', '');
const LIMITS = {
  places: { total: 4, project: 2, leavesRoom: true },
  strangers: { total: 2, address: 1 },
  waiting: { total: 100_000, project: 40_000, address: 20_000 },
} as const;

/** Requests that have begun, in their order. */
class Desk {
  readonly turns: Turns;
  readonly begun: string[] = [];

  constructor(limits: ConstructorParameters<typeof Turns>[0] = LIMITS) {
    this.turns = new Turns(limits);
  }

  enter(lane: Lane, name: string, bytes = 0): Ticket {
    const place = new Ticket(this.turns, lane);
    const full = this.turns.enter(place, bytes, () => this.begun.push(name));
    if (full) throw new Error(`The ${full.of} has too many.`);
    return place;
  }

  /** Begins all that may begin now. */
  async rest(): Promise<string[]> {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    return this.begun;
  }
}

describe('requests under way', () => {
  it('are as many as a project may have; the next begins when one of them ends', async () => {
    const desk = new Desk();
    const [first] = ['one', 'two', 'three', 'four'].map((name) => desk.enter(PROJECT, name));
    expect(await desk.rest()).toEqual(['one', 'two']);
    expect(desk.turns.underWay).toBe(2);
    first?.release();
    first?.release();
    expect(await desk.rest()).toEqual(['one', 'two', 'three']);
  });

  it('of a project leave places for another one', async () => {
    const desk = new Desk();
    for (let n = 0; n < 3; n += 1) desk.enter(PROJECT, 'flood');
    desk.enter(OTHER, 'neighbour');
    expect((await desk.rest()).toSorted()).toEqual(['flood', 'flood', 'neighbour']);
  });

  it('of strangers leave places for those who have shown a key', async () => {
    const desk = new Desk();
    for (let n = 0; n < 9; n += 1) {
      desk.enter(laneOf('strangers', `192.0.2.${n}`, ''), 'stranger');
    }
    desk.enter(PROJECT, 'known');
    expect((await desk.rest()).toSorted()).toEqual(['known', 'stranger', 'stranger']);
  });

  it('never begin once their callers have left', async () => {
    const desk = new Desk();
    const places = ['one', 'left', 'two'].map((name) => desk.enter(STRANGER, name));
    places[1]?.release();
    places[0]?.release();
    expect(await desk.rest()).toEqual(['one', 'two']);
    expect(desk.turns.waitingBytes).toBe(0);
  });

  it('count what they hold in line, and a full line refuses', async () => {
    const desk = new Desk();
    desk.enter(STRANGER, 'one');
    const waiting = desk.enter(STRANGER, 'two', 10_000);
    expect(desk.turns.waitingBytes).toBe(18_192);
    const refused = new Ticket(desk.turns, STRANGER);
    expect(desk.turns.enter(refused, 0, () => desk.begun.push('three'))).toEqual({
      budget: 'waiting requests',
      of: 'address',
      limit: 20_000,
      used: 18_192,
    });
    desk.enter(PROJECT, 'of another');
    expect(await desk.rest()).toEqual(['one', 'of another']);
    waiting.release();
    desk.enter(STRANGER, 'four');
    expect(desk.turns.waitingBytes).toBe(8192);
  });
});

describe('a request with a large body', () => {
  it('takes several places, and waits until they are free', async () => {
    const desk = new Desk();
    const small = desk.enter(PROJECT, 'small');
    const large = new Ticket(desk.turns, PROJECT, 2);
    desk.turns.enter(large, 0, () => desk.begun.push('large'));
    desk.enter(PROJECT, 'after it');
    expect(await desk.rest()).toEqual(['small']);
    small.release();
    expect(await desk.rest()).toEqual(['small', 'large']);
    expect(desk.turns.underWay).toBe(2);
    large.release();
    expect(await desk.rest()).toEqual(['small', 'large', 'after it']);
  });
});

describe('a large request beside many small ones of others', () => {
  const places = { total: 8, project: 3, leavesRoom: true } as const;

  it('has its turn: those leave room for it as soon as it waits', async () => {
    const desk = new Desk({ ...LIMITS, places });
    const lanes = Array.from({ length: 6 }, (_, n) => laneOf('known', `prj_${n}`, 'key'));
    const small = lanes.map((lane) => desk.enter(lane, 'small'));
    const large = new Ticket(desk.turns, OTHER, 3);
    desk.turns.enter(large, 0, () => desk.begun.push('large'));
    // As each small one ends, the next one of its project comes.
    for (const [n, lane] of lanes.entries()) {
      await desk.rest();
      desk.enter(lane, 'next');
      small[n]?.release();
    }
    expect((await desk.rest()).slice(0, 8)).toEqual([...small.map(() => 'small'), 'large', 'next']);
  });

  it('keeps nobody waiting once its caller has left', async () => {
    const desk = new Desk({ ...LIMITS, places });
    const lanes = Array.from({ length: 6 }, (_, n) => laneOf('known', `prj_${n}`, 'key'));
    for (const lane of lanes) desk.enter(lane, 'small');
    const large = new Ticket(desk.turns, OTHER, 3);
    desk.turns.enter(large, 0, () => desk.begun.push('large'));
    await desk.rest();
    large.release();
    desk.enter(PROJECT, 'another');
    expect((await desk.rest()).at(-1)).toBe('another');
  });
});

describe('heavy work', () => {
  it('lets the event loop have a turn between two pieces', async () => {
    const { turns } = new Desk();
    const order: string[] = [];
    const heavy = (name: string) => (): void => {
      order.push(name);
      spin(6);
    };
    // Whatever the event loop does in a turn, such as reading the sockets of others.
    const loop = setImmediate().then(() => order.push('others'));
    for (const name of ['one', 'two']) turns.enter(new Ticket(turns, PROJECT), 0, heavy(name));
    await loop;
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    expect(order).toEqual(['one', 'others', 'two']);
  });

  it('of a request under way needs no further place', async () => {
    const desk = new Desk();
    for (let n = 0; n < 3; n += 1) desk.enter(PROJECT, `${n}`);
    await desk.rest();
    await desk.turns.turn(PROJECT);
    expect(desk.begun).toEqual(['0', '1']);
  });
});

function spin(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}
