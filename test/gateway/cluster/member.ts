import { expect } from 'vitest';
import { Cluster } from '../../../gateway/cluster/cluster.ts';
import type { BackgroundTask } from '../../../gateway/lib/background-task.ts';
import type { ProjectIdleState } from '../../../gateway/store/control/idle-markers.ts';
import type { ControlStore } from '../../../gateway/store/control-store.ts';
import { FakeClock } from '../../helpers/gateway.ts';
import type { stopTime } from '../../helpers/stopped-time.ts';

/** A machine that rests for as long as this makes all of them stand still. */
export const TIMING = { beatMs: 50, deadAfterMs: 6000, unsureAfterMs: 3000 };
export const soon = { timeout: 60_000, interval: 5 };

type Time = ReturnType<typeof stopTime>;

export class CountedTask implements BackgroundTask {
  readonly name: string;
  isOn = false;
  starts = 0;
  problem: Error | null = null;

  constructor(name = 'mailbox') {
    this.name = name;
  }

  async start(): Promise<void> {
    if (this.problem) throw this.problem;
    this.starts += 1;
    this.isOn = true;
  }

  async stop(): Promise<void> {
    this.isOn = false;
  }
}

export type ClusterStore = ConstructorParameters<typeof Cluster>[0]['store'];

/** A gateway, as far as others see it. */
export class Member {
  readonly id: string;
  readonly inherited: ProjectIdleState[] = [];
  readonly errors: unknown[] = [];
  readonly task = new CountedTask();
  lost = 0;
  beats = 0;
  readonly cluster: Cluster;
  readonly #own: ControlStore;

  constructor(id: string, own: ControlStore, store: ClusterStore = own.gateways) {
    this.id = id;
    this.#own = own;
    this.cluster = new Cluster({
      store: {
        beat: async (of, now) => {
          const beat = await store.beat(of, now);
          this.beats += 1;
          return beat;
        },
        leave: (of) => store.leave(of),
        markersOf: (of) => store.markersOf(of),
        takeTask: (of, name) => store.takeTask(of, name),
        takeOver: (of, gone) => store.takeOver(of, gone),
      },
      id,
      clock: new FakeClock(),
      onFailover: (work) => this.inherited.push(...work),
      onLost: async () => {
        this.lost += 1;
      },
      onError: (error) => this.errors.push(error),
      timing: TIMING,
    });
    this.cluster.add(this.task);
  }

  get notes() {
    return this.#own.gateways.markersOf(this.id);
  }

  get ids(): string[] {
    return this.inherited.map(({ id }) => id).toSorted();
  }

  async leave(): Promise<void> {
    await this.cluster.close();
    await this.#own.close();
  }
}

/** Until each of them has sent some heartbeats more, and has seen those of the others. */
export async function haveBeaten(...alive: readonly Member[]): Promise<void> {
  const enough = alive.map((one) => ({ one, beats: one.beats + 3 }));
  await expect.poll(() => enough.every(({ one, beats }) => one.beats >= beats), soon).toBe(true);
}

/** So much time that whoever sends no heartbeat is dead, in steps that nobody alive misses. */
export async function deathPasses(time: Time, ...alive: readonly Member[]) {
  for (let step = 0; step < 7; step += 1) {
    time.pass(TIMING.deadAfterMs / 6);
    await haveBeaten(...alive);
  }
}
