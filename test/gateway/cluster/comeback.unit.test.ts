import { afterEach, expect, it } from 'vitest';
import { Cluster } from '../../../gateway/cluster/cluster.ts';
import { FakeClock } from '../../helpers/gateway.ts';

const BEAT_MS = 10;
const soon = { timeout: 60_000, interval: 2 };

interface Held {
  readonly promise: Promise<void>;
  readonly release: () => void;
}

const nothing = (): void => undefined;

function held(): Held {
  let release = nothing;
  const promise = new Promise<void>((resolve) => (release = resolve));
  return { promise, release };
}

/** A gateway whose store says what the test wants: that others have taken it for dead, and live. */
class Told {
  readonly cluster: Cluster;
  beats = 0;
  lost = 0;
  stops = 0;
  stopping: Promise<void> = Promise.resolve();
  learning: Promise<void> = Promise.resolve();
  #isGone = false;
  #row = 0;

  constructor() {
    this.cluster = new Cluster({
      id: 'gtw_a',
      clock: new FakeClock(),
      timing: { beatMs: BEAT_MS, deadAfterMs: 60_000, unsureAfterMs: 30_000 },
      store: {
        beat: async () => this.#beat(),
        leave: () => Promise.resolve(),
        markersOf: () => {
          throw new Error('Nobody asks.');
        },
        takeTask: () => Promise.resolve(true),
        takeOver: () => Promise.resolve([]),
      },
      onFailover: () => undefined,
      onLost: () => {
        this.lost += 1;
        return this.learning;
      },
      onError: (error) => {
        throw error;
      },
    });
    this.cluster.add({
      name: 'mailbox',
      start: () => Promise.resolve(),
      stop: () => {
        this.stops += 1;
        return this.stopping;
      },
    });
  }

  beGone(): void {
    this.#isGone = true;
  }

  #beat() {
    const wasGone = this.#isGone;
    this.#isGone = false;
    this.beats += 1;
    const others = wasGone ? [{ id: 'gtw_b', beat: 1 }] : [];
    // Whoever takes it over deletes its row.
    const before = wasGone ? 0 : this.#row;
    this.#row = before + 1;
    return { wasGone, before, others };
  }
}

let told: Told;
afterEach(() => told.cluster.close());

it('a gateway that was taken for dead writes nothing until it knows what others changed', async () => {
  told = new Told();
  await told.cluster.start();
  expect(told.cluster.isUnsure).toBe(false);
  const learning = held();
  told.learning = learning.promise;
  told.beGone();
  await expect.poll(() => told.lost, soon).toBe(1);
  const { beats } = told;
  await expect.poll(() => told.beats, soon).toBeGreaterThan(beats + 6);
  expect(told.cluster.isUnsure).toBe(true);
  expect(told.cluster.isServerSilent).toBe(true);
  learning.release();
  await expect.poll(() => told.cluster.isUnsure, soon).toBe(false);
});

it('nor until the others know that it is back', async () => {
  told = new Told();
  await told.cluster.start();
  told.beGone();
  await expect.poll(() => told.lost, soon).toBe(1);
  const { beats } = told;
  await expect.poll(() => told.cluster.isUnsure, soon).toBe(false);
  expect(told.beats - beats).toBeGreaterThanOrEqual(2);
});

it('and it knows at once that they are there, while its tasks end', async () => {
  told = new Told();
  await told.cluster.start();
  expect(told.cluster.hasOthers).toBe(false);
  const stopping = held();
  told.stopping = stopping.promise;
  told.beGone();
  await expect.poll(() => told.stops, soon).toBe(1);
  expect(told.cluster.hasOthers).toBe(true);
  stopping.release();
});
