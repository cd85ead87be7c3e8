import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { SharedStore, type SharedGateway } from './shared-blobs.ts';

const GATEWAYS = 2;
const HOUR_MS = 3_600_000;
const CONTENT = 'the same bytes';
const digest = hash('sha256', CONTENT);

const gateway = fc.nat({ max: GATEWAYS - 1 });
const call = fc.record({ what: fc.constantFrom('save', 'abandon', 'drop'), gateway });
const go = fc.record({ what: fc.constant('go'), gateway, times: fc.integer({ min: 1, max: 6 }) });
const other = fc.record({
  what: fc.constantFrom('pass', 'pass', 'die'),
  gateway,
  minutes: fc.constantFrom(21, 61),
});
const step = fc.oneof(
  { weight: 3, arbitrary: call },
  { weight: 5, arbitrary: go },
  { weight: 2, arbitrary: other },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A gateway, where each of its steps waits until it may happen. */
class Actor {
  readonly gateway: SharedGateway;
  /** What it does. */
  readonly work = new Set<Promise<void>>();
  readonly #world: World;
  #replication: (() => void)[] = [];
  #isDead = false;

  constructor(world: World, shared: SharedGateway) {
    this.#world = world;
    this.gateway = shared;
    shared.at = () =>
      new Promise((happen) => {
        if (this.#isDead) return;
        this.#world.events += 1;
        this.#replication.push(happen);
      });
  }

  begin(work: (shared: SharedGateway) => Promise<void>): void {
    const running = work(this.gateway)
      .catch((error: unknown) => {
        // Refused, to be tried again.
        assert(error instanceof ServiceError && error.code === 'UNAVAILABLE', String(error));
      })
      .then(() => this.gateway.settled())
      .finally(() => {
        this.#world.events += 1;
        this.work.delete(running);
      });
    this.work.add(running);
  }

  /** The step that waits for longest happens. */
  go(): void {
    this.#replication.shift()?.();
  }

  die(): void {
    this.#isDead = true;
    this.#replication = [];
  }
}

/** Gateways that store, name and erase the same bytes, each of their steps when the test lets it happen. */
class World {
  /** Counts what has happened, to know when nothing does. */
  events = 0;
  readonly #store: SharedStore;
  readonly #actors: Actor[] = [];
  #made = 0;

  constructor(store: SharedStore) {
    this.#store = store;
    for (let number = 0; number < GATEWAYS; number += 1) this.#actors.push(this.#actor());
  }

  async take(one: Step): Promise<void> {
    const actor = this.#actors[one.gateway];
    if (!actor) throw new Error('out of range');
    if ('times' in one) return this.#go(actor, one.times);
    if ('minutes' in one) {
      if (one.what === 'pass') this.#store.clock.advance(one.minutes * 60_000);
      else this.#replace(actor);
      return;
    }
    if (one.what === 'drop') actor.begin((shared) => shared.drop(digest));
    else actor.begin((shared) => put(shared, one.what === 'save'));
    await this.#quiet();
  }

  /** Whoever lives goes on to the end; then time passes, and maintenance and sweeps make up for those who have died. */
  async finish(): Promise<void> {
    while (this.#actors.some(({ work }) => work.size > 0)) {
      for (const actor of this.#actors) await this.#go(actor, 1);
    }
    assert.deepEqual(
      this.#actors.flatMap((actor) => actor.gateway.errors),
      [],
    );
    this.#store.clock.advance(3 * HOUR_MS);
    const last = this.#store.gateway('last');
    await last.dropPins();
    await last.sweep();
    const isNamed = await this.#store.isNamed(digest);
    assert.equal(this.#store.bytes(digest), isNamed ? CONTENT : null);
    assert.deepEqual(this.#store.files(), isNamed ? [digest] : []);
    assert.equal(await this.#store.marks(), 0);
  }

  #actor(): Actor {
    this.#made += 1;
    return new Actor(this, this.#store.gateway(`gateway ${this.#made}`));
  }

  #replace(actor: Actor): void {
    actor.die();
    this.#actors[this.#actors.indexOf(actor)] = this.#actor();
  }

  async #go(actor: Actor, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      actor.go();
      await this.#quiet();
      await this.#check();
    }
  }

  async #quiet(): Promise<void> {
    for (let before = -1; before !== this.events;) {
      before = this.events;
      await sleep(3);
    }
  }

  /** The bytes of what a row names are in place and whole, or in the hands of an erasure that is late. */
  async #check(): Promise<void> {
    if (!(await this.#store.isNamed(digest)) || this.#store.bytes(digest) === CONTENT) return;
    const isAway = this.#store.files().some((name) => name.endsWith('.erased'));
    const isLost = !isAway && (await this.#store.isNamed(digest));
    assert(!isLost || this.#store.bytes(digest) === CONTENT, 'A blob that a row names is lost.');
  }
}

async function put(shared: SharedGateway, names: boolean): Promise<void> {
  const { release } = await shared.blobs.put(Buffer.from(CONTENT));
  try {
    if (names) await shared.name(digest, CONTENT.length);
  } finally {
    release();
  }
}

it('loses no blob that a row names, however gateways that share it stop, die and go on', async () => {
  const steps = fc.array(step, { minLength: 20, maxLength: 50 });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const store = await SharedStore.open();
      try {
        const world = new World(store);
        for (const one of all) await world.take(one);
        await world.finish();
      } finally {
        await store.close();
      }
      runs += 1;
    }),
    { numRuns: Number(process.env['SVC_MODEL_RUNS'] ?? 12), endOnFailure: true },
  );
  expect(runs).toBeGreaterThan(0);
});
