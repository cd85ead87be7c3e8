import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Databases } from '../../../gateway/store/databases.ts';
import { gatewayIdIn } from '../../../gateway/cluster/gateway-id.ts';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import type { Transition } from '../../../gateway/store/control/moves.ts';
import { TIMING } from '../../helpers/gateway.ts';
import { Pair } from './pair.ts';

const soon = { timeout: 60_000, interval: 20 };

let pair: Pair;
let control: ControlStore;
let path: string;
beforeEach(async () => {
  pair = await Pair.start();
  const location = new Databases(pair.folder, pair.shared.store).control;
  control = await ControlStore.open(location, () => undefined);
  path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
  // The second gateway has asked where the project is, and remembers it.
  await deliver('before');
});
afterEach(async () => {
  await control.close();
  await pair.stop();
});

/** By the second gateway. */
async function deliver(text: string): Promise<number> {
  return (await pair.b.deliver(pair.b.url + path, text)).status;
}

/** The second gateway as the others see it, while they do. */
async function second() {
  const id = gatewayIdIn(pair.b.folder);
  return (await control.gateways.others('')).find((one) => one.id === id);
}

/** The first gateway takes the second for dead, whatever its beat is by then, and turns the project before its next beat. */
async function whileDead(turn: () => Promise<Transition>): Promise<void> {
  for (;;) {
    const seen = await second();
    if (seen) await control.gateways.takeOver(gatewayIdIn(pair.a.folder), seen);
    const turned = await turn();
    if ('changed' in turned && turned.changed) return;
    // That was its next beat already.
    if (!('others' in turned)) throw new Error(JSON.stringify(turned));
  }
}

describe('a gateway that was taken for dead learns', () => {
  it('that a project was held meanwhile, and that the hold was ended', async () => {
    const { projectId } = pair.a;
    await whileDead(() => pair.a.gateway.projects.hold(projectId));
    await expect.poll(() => deliver('held'), soon).toBe(503);
    await whileDead(() => pair.a.gateway.projects.release(projectId));
    await expect.poll(() => deliver('after'), soon).toBe(200);
  });

  it('that a project has moved meanwhile', async () => {
    const { projectId } = pair.a;
    await whileDead(async () => {
      await pair.a.gateway.projects.hold(projectId);
      return pair.a.gateway.projects.moveAway(projectId, 'https://other.example');
    });
    const list = () => pair.b.call('GET', '/v1/inbox').then(({ status }) => status);
    await expect.poll(list, soon).toBe(503);
  });
});

describe('a gateway that stood still', () => {
  afterEach(() => vi.useRealTimers());

  it('writes nothing until a beat has told whether it was taken for dead', async () => {
    // Just after a beat, so that the next one does not tell before anything is delivered.
    const given = (await second())?.beat;
    await expect.poll(async () => (await second())?.beat, soon).not.toBe(given);
    vi.useFakeTimers({ toFake: ['Date'] });
    // As after a machine was suspended: its steady clock does not know of it.
    vi.setSystemTime(Date.now() + TIMING.unsureAfterMs + 1000);
    expect(await deliver('at once')).toBe(503);
    await expect.poll(() => deliver('soon'), soon).toBe(200);
  });
});
