import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cluster } from '../../../gateway/cluster/cluster.ts';
import { gatewayIdIn } from '../../../gateway/cluster/gateway-id.ts';
import { LEFT } from '../../../gateway/store/control/gateways.ts';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';
import { stopTime } from '../../helpers/stopped-time.ts';
import { SharedStore } from '../../helpers/shared-store.ts';
import {
  CountedTask,
  deathPasses,
  haveBeaten,
  Member,
  soon,
  TIMING,
  type ClusterStore,
} from './member.ts';

let folder: ReturnType<typeof temporaryFolder>;
let shared: SharedStore;
let control: ControlStore;
const members: Member[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  shared = await SharedStore.start(folder.path);
  control = await openControl();
});
afterEach(async () => {
  shared.server.faults.resume();
  for (const member of members.splice(0)) await member.leave();
  await control.close();
  await shared.stop();
  folder.remove();
});

let controls = 0;

function openControl(): Promise<ControlStore> {
  const location = {
    kind: 'remote',
    url: shared.server.urlOf('svc-control'),
    token: null,
    mirror: join(folder.path, 'control-of-the-test', `${String((controls += 1))}.db`),
  } as const;
  return ControlStore.open(location, () => undefined);
}

async function start(id: string, store?: ClusterStore): Promise<Member> {
  const member = new Member(id, await openControl(), store);
  members.push(member);
  await member.cluster.start();
  return member;
}

/** Only its rows are there, as after a kill: its beat stands still. */
async function dead(id: string, ...work: readonly [string, number | null | 'working'][]) {
  await control.gateways.beat(id, 0);
  const notes = control.gateways.markersOf(id);
  for (const [project, dueAt] of work) {
    if (dueAt === 'working') await notes.end(project);
    else await notes.begin(project, dueAt);
  }
}

async function projectNamed(nth: number): Promise<string> {
  const id = `prj_${String(nth).padStart(16, '0')}`;
  await control.reserveProject({
    id,
    slug: `p-${nth}`,
    name: 'Test',
    created_at: '2026-01-02T03:04:05.000Z',
  });
  await control.confirmProject(id);
  return id;
}

describe('a gateway that dies', () => {
  it('is succeeded by exactly one of two, with all it looked after', async () => {
    const time = stopTime();
    const projects = await Promise.all([1, 2, 3, 4].map((nth) => projectNamed(nth)));
    const [one = '', two = '', three = '', four = ''] = projects;
    const [a, b] = await Promise.all([start('gtw_a'), start('gtw_b')]);
    await dead('gtw_c', [one, 'working'], [two, 77], [three, null], [four, 'working']);
    expect(await control.gateways.takeTask('gtw_c', 'telegram')).toBe(true);
    await haveBeaten(a, b);
    await deathPasses(time, a, b);
    await expect.poll(() => a.ids.length + b.ids.length, soon).toBe(4);
    await haveBeaten(a, b);
    const heir = a.ids.length > 0 ? a : b;
    expect(heir === a ? b.ids : a.ids).toEqual([]);
    expect(heir.inherited.toSorted((x, y) => x.id.localeCompare(y.id))).toEqual([
      { id: one, isIdle: false, nextDueAt: null },
      { id: two, isIdle: true, nextDueAt: 77 },
      { id: three, isIdle: true, nextDueAt: null },
      { id: four, isIdle: false, nextDueAt: null },
    ]);
    // In the store as well: its next run begins with them.
    expect((await heir.notes.all()).map(({ id }) => id).toSorted()).toEqual(projects.toSorted());
    expect(await control.gateways.takeTask(heir.id, 'telegram')).toBe(true);
    expect([a.lost, b.lost, ...a.errors, ...b.errors]).toEqual([0, 0]);
  });

  it('is not succeeded while its beat goes on', async () => {
    const time = stopTime();
    const project = await projectNamed(1);
    await dead('gtw_c', [project, 'working']);
    const a = await start('gtw_a');
    for (let n = 0; n < 6; n += 1) {
      time.pass(TIMING.deadAfterMs / 4);
      await control.gateways.beat('gtw_c', 0);
      await haveBeaten(a);
    }
    expect(a.ids).toEqual([]);
    expect(a.cluster.hasOthers).toBe(true);
    await deathPasses(time, a);
    await expect.poll(() => a.ids, soon).toEqual([project]);
    await deathPasses(time, a);
    await expect.poll(() => a.cluster.hasOthers, soon).toBe(false);
  });

  it('is succeeded at once when it has left', async () => {
    const project = await projectNamed(1);
    const [a, b] = [await start('gtw_a'), await start('gtw_b')];
    await b.notes.end(project);
    await expect.poll(() => a.cluster.hasOthers, soon).toBe(true);
    members.splice(members.indexOf(b), 1);
    await b.leave();
    await expect.poll(() => a.ids, soon).toEqual([project]);
  });

  it('leaves notes that are merged with those of its heir: what asks for more stands', async () => {
    const projects = await Promise.all([1, 2, 3, 4].map((nth) => projectNamed(nth)));
    const [one = '', two = '', three = '', four = ''] = projects;
    await dead('gtw_a', [one, 50], [two, null], [three, 'working'], [four, 20]);
    await dead('gtw_c', [one, 30], [two, 40], [three, 10], [four, 'working']);
    const gone = { id: 'gtw_c', beat: 1 };
    expect(await control.gateways.takeOver('gtw_a', { ...gone, beat: 2 })).toEqual([]);
    expect(await control.gateways.takeOver('gtw_a', gone)).toHaveLength(4);
    expect(await control.gateways.takeOver('gtw_a', gone)).toEqual([]);
    const merged = await control.gateways.markersOf('gtw_a').all();
    expect(merged.toSorted((x, y) => x.id.localeCompare(y.id))).toMatchObject([
      { id: one, isIdle: true, nextDueAt: 30 },
      { id: two, isIdle: true, nextDueAt: 40 },
      { id: three, isIdle: false },
      { id: four, isIdle: false },
    ]);
  });

  it('is succeeded also when the answer to that is lost', async () => {
    const project = await projectNamed(1);
    await dead('gtw_c', [project, 'working']);
    const { gateways } = control;
    const lost = new Error('lost');
    const a = await start('gtw_a', {
      beat: (id, now) => gateways.beat(id, now),
      leave: (id) => gateways.leave(id),
      markersOf: (id) => gateways.markersOf(id),
      takeTask: (id, name) => gateways.takeTask(id, name),
      takeOver: async (id, gone) => {
        await gateways.takeOver(id, gone);
        throw lost;
      },
    });
    await expect.poll(() => a.ids, soon).toEqual([project]);
    expect(a.errors).toEqual([lost]);
    await haveBeaten(a);
    expect(a.ids).toEqual([project]);
  });
});

describe('a gateway that stood still', () => {
  it('is told that others have taken what it looked after, once', async () => {
    const project = await projectNamed(1);
    const a = await start('gtw_a');
    await a.notes.end(project);
    // As another does that takes it for dead, whatever its beat is by then.
    let taken: readonly unknown[] = [];
    while (taken.length === 0) {
      for (const row of await control.gateways.others('gtw_b')) {
        taken = await control.gateways.takeOver('gtw_b', row);
      }
    }
    await expect.poll(() => a.lost, soon).toBe(1);
    await haveBeaten(a);
    expect(a.lost).toBe(1);
  });

  it('is told so too when it has written before its next beat', async () => {
    const project = await projectNamed(1);
    await dead('gtw_a', [project, 'working']);
    await control.gateways.takeOver('gtw_b', { id: 'gtw_a', beat: 1 });
    // Its notes are found by others though it has no beat yet.
    await control.gateways.markersOf('gtw_a').end(project);
    const { others } = await control.gateways.beat('gtw_b', 0);
    expect(others).toEqual([{ id: 'gtw_a', beat: 0 }]);
    expect((await control.gateways.beat('gtw_a', 0)).wasGone).toBe(true);
    expect((await control.gateways.beat('gtw_a', 0)).wasGone).toBe(false);
  });

  it('takes it that it was taken for dead when the store was away for long', async () => {
    const a = await start('gtw_a');
    shared.server.faults.pause();
    await sleep(1.5 * TIMING.deadAfterMs);
    shared.server.faults.resume();
    await expect.poll(() => a.lost, soon).toBe(1);
  });
});

describe('a duty', () => {
  it('is done by one of them, and by another when that one leaves', async () => {
    const a = await start('gtw_a');
    const b = await start('gtw_b');
    await haveBeaten(a, b);
    // On a busy machine a heartbeat may be so late that it's given up for a moment.
    await expect.poll(() => a.task.isOn, soon).toBe(true);
    expect(b.task.isOn).toBe(false);
    members.splice(members.indexOf(a), 1);
    await a.leave();
    expect(a.task.isOn).toBe(false);
    await expect.poll(() => b.task.isOn, soon).toBe(true);
  });

  it('is taken on after a death', async () => {
    await dead('gtw_c');
    await control.gateways.takeTask('gtw_c', 'mailbox');
    const a = await start('gtw_a');
    expect(a.task.isOn).toBe(false);
    await expect.poll(() => a.task.isOn, soon).toBe(true);
  });

  it('is given up before another may take it on, when the store does not answer', async () => {
    const a = await start('gtw_a');
    expect(a.task.isOn).toBe(true);
    // Requests are held, so that no error tells of it.
    shared.server.faults.pause();
    await expect.poll(() => a.task.isOn, soon).toBe(false);
    // The timer may be early by a moment.
    await expect.poll(() => a.cluster.isUnsure, soon).toBe(true);
    expect(a.errors).toEqual([]);
    shared.server.faults.resume();
    await expect.poll(() => a.task.isOn, soon).toBe(true);
    // On a busy machine the next heartbeat may be late as well.
    await expect.poll(() => a.cluster.isUnsure, soon).toBe(false);
    expect(a.task.starts).toBeGreaterThanOrEqual(2);
  });

  it('that cannot be begun is tried again, and does not keep a gateway from starting', async () => {
    const store = control.gateways;
    const task = new CountedTask();
    task.problem = new Error('no');
    const errors: unknown[] = [];
    const cluster = new Cluster({
      store,
      id: 'gtw_d',
      clock: new FakeClock(),
      onFailover: () => undefined,
      onLost: () => Promise.resolve(),
      onError: (error) => errors.push(error),
      timing: TIMING,
    });
    cluster.add(task);
    await cluster.start();
    expect(errors).toEqual([task.problem]);
    task.problem = null;
    await expect.poll(() => task.isOn, soon).toBe(true);
    await cluster.endTasks();
    expect(task.isOn).toBe(false);
    await sleep(3 * TIMING.beatMs);
    expect(task.starts).toBe(1);
    await cluster.close();
  });
});

describe('others', () => {
  it('are known of that came and left between two beats: what they wrote is looked for', async () => {
    const a = await start('gtw_a');
    expect(a.cluster.hasOthers).toBe(false);
    await control.gateways.handOver('gtw_b', await projectNamed(1), 0);
    await expect.poll(() => a.ids.length, soon).toBe(1);
    expect(a.cluster.hasOthers).toBe(true);
  });

  it('with the same id, from a copy of the data folder, are counted and told of once', async () => {
    const a = await start('gtw_a');
    await haveBeaten(a);
    expect(a.cluster.hasOthers).toBe(false);
    const twin = await start('gtw_a');
    for (const one of [a, twin]) {
      await expect.poll(() => one.cluster.hasOthers, soon).toBe(true);
    }
    await haveBeaten(a, twin);
    for (const { errors } of [a, twin]) {
      expect(errors.map(String)).toEqual([expect.stringContaining('gateway-id')]);
    }
  });

  it('are none when the answers to beats of its own were lost', async () => {
    const { gateways } = control;
    let losses = 0;
    const a = await start('gtw_a', {
      leave: (id) => gateways.leave(id),
      markersOf: (id) => gateways.markersOf(id),
      takeTask: (id, name) => gateways.takeTask(id, name),
      takeOver: (id, gone) => gateways.takeOver(id, gone),
      beat: async (id, now) => {
        const beat = await gateways.beat(id, now);
        const isLost = beat.before !== null && beat.before % 2 === 0;
        if (!isLost) return beat;
        losses += 1;
        throw new Error('lost');
      },
    });
    await expect.poll(() => losses, soon).toBe(3);
    expect(new Set(a.errors.map(String))).toEqual(new Set(['Error: lost']));
    expect(a.cluster.hasOthers).toBe(false);
  });
});

describe('a gateway that starts again with its data folder', () => {
  it('has the same id, and goes on with its own notes at once', async () => {
    const data = join(folder.path, 'data');
    mkdirSync(data);
    const id = gatewayIdIn(data);
    expect(id).toMatch(/^gtw_[0-9a-f]{16}$/);
    expect(gatewayIdIn(data)).toBe(id);
    const project = await projectNamed(1);
    await dead(id, [project, 'working']);
    const { wasGone } = await control.gateways.beat(id, 0);
    expect(wasGone).toBe(false);
    expect(await control.gateways.markersOf(id).all()).toEqual([
      { id: project, isIdle: false, nextDueAt: null },
    ]);
  });

  it('after it has left, goes on unless another has taken over', async () => {
    await control.gateways.beat('gtw_a', 0);
    await control.gateways.leave('gtw_a');
    const { others } = await control.gateways.beat('gtw_b', 0);
    expect(others).toEqual([{ id: 'gtw_a', beat: LEFT }]);
    expect((await control.gateways.beat('gtw_a', 0)).wasGone).toBe(false);
    expect(await control.gateways.takeOver('gtw_b', { id: 'gtw_a', beat: LEFT })).toEqual([]);
  });
});
