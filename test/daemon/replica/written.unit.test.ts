import { describe, expect, it } from 'vitest';
import { PositionWaiters } from '../../../daemon/replica/serve/position-waiters.ts';
import { OwnWrites } from '../../../daemon/replica/serve/own-writes.ts';
import { Waits } from '../../../shared/kernel/waits.ts';

describe('what was written', () => {
  it('is settled when the copy has it', async () => {
    const positionWaiters = new PositionWaiters(new Waits());
    const written = new OwnWrites(positionWaiters, () => Promise.reject(new Error('Not asked.')));
    positionWaiters.has(5);
    expect(await written.settled(0)).toBe(true);
    written.note(7);
    expect(positionWaiters.target).toBe(7);
    expect(await written.settled(1)).toBe(false);
    positionWaiters.has(7);
    expect(await written.settled(0)).toBe(true);
  });

  it('is asked for when an answer was lost, and asked for again until it is known', async () => {
    const positionWaiters = new PositionWaiters(new Waits());
    positionWaiters.has(5);
    const there = { gateway: { position: 6 }, lost: 1 };
    const answers = [Promise.reject(new Error('Gone.')), Promise.resolve(there)];
    const written = new OwnWrites(
      positionWaiters,
      () => answers.shift() ?? Promise.reject(new Error('Asked too often.')),
    );
    written.note(null);
    expect(await written.settled(1000)).toBe(false);
    const settled = written.settled(20_000);
    setImmediate(() => positionWaiters.has(6));
    expect(await settled).toBe(true);
    expect(answers).toEqual([]);
  });

  it('is what it is in another history', async () => {
    const positionWaiters = new PositionWaiters(new Waits());
    const written = new OwnWrites(positionWaiters, () => Promise.reject(new Error('Gone.')));
    written.note(100);
    written.onConnected({ position: 3, isOtherHistory: true, lost: 0 });
    positionWaiters.has(3);
    expect(await written.settled(0)).toBe(true);
  });

  it('and lost while the gateway is asked how far it is, is still to be asked for', async () => {
    const positionWaiters = new PositionWaiters(new Waits());
    const written = new OwnWrites(positionWaiters, () => Promise.reject(new Error('Gone.')));
    positionWaiters.has(9);
    written.note(null);
    const { lost } = written;
    written.note(null);
    written.onConnected({ position: 5, isOtherHistory: false, lost });
    expect(await written.settled(50)).toBe(false);
    written.onConnected({ position: 9, isOtherHistory: false, lost: written.lost });
    expect(await written.settled(50)).toBe(true);
  });
});
