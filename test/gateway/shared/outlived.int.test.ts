import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Databases } from '../../../gateway/databases.ts';
import { gatewayIdIn } from '../../../gateway/peers.ts';
import { ControlStore } from '../../../shared/store/control-store.ts';
import type { Turned } from '../../../shared/store/control/moves.ts';
import { Pair } from './pair.ts';

const soon = { timeout: 10_000, interval: 20 };

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

/** The first gateway takes the second for dead, whatever its beat is by then, and turns the project before its next beat. */
async function whileDead(turn: () => Promise<Turned>): Promise<void> {
  const id = gatewayIdIn(pair.b.folder);
  for (;;) {
    const seen = (await control.gateways.others('')).find((one) => one.id === id);
    if (seen) await control.gateways.takeOver(gatewayIdIn(pair.a.folder), seen);
    const left = (await control.gateways.others('')).map((one) => one.id);
    if (!left.includes(id)) break;
  }
  const turned = await turn();
  if (!('changed' in turned && turned.changed)) throw new Error(JSON.stringify(turned));
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
      return pair.a.gateway.projects.leave(projectId, 'https://other.example');
    });
    const list = () => pair.b.call('GET', '/v1/inbox').then(({ status }) => status);
    await expect.poll(list, soon).toBe(503);
  });
});

describe('a gateway that stood still', () => {
  afterEach(() => vi.useRealTimers());

  it('writes nothing until a beat has told whether it was taken for dead', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    // As after a machine was suspended: its steady clock does not know of it.
    vi.setSystemTime(Date.now() + 11_000);
    expect(await deliver('at once')).toBe(503);
    await expect.poll(() => deliver('soon'), soon).toBe(200);
  });
});
