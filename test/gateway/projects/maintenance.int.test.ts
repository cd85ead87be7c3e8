import { hash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../gateway/projects/project.ts';
import type { DeletionClock } from '../../../gateway/projects/trusted-clock.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { FakeClock, TestGateway, UNSTEADY } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { Routes } from '../../shared/operations/route/routes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SOON = { interval: 10 } as const;

let clock: FakeClock;
let gateway: TestGateway;
let project: Project;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  project = await projectOf(gateway, gateway.projectId);
});
afterEach(() => gateway.stop());

async function projectOf(from: TestGateway, id: string): Promise<Project> {
  const found = await from.gateway.projects.find(id);
  if (!found) throw new Error('no project');
  return found;
}

/** Runs `body` on a gateway over the folder of the one before. */
async function restarted(
  { crashed, ...options }: { deletionClock?: DeletionClock; crashed?: boolean },
  body: (again: TestGateway) => Promise<void>,
): Promise<void> {
  const { folder, projectId } = gateway;
  await gateway.stop({ keepFolder: true });
  if (crashed) await forgetRest(folder, projectId);
  const again = await TestGateway.start({ clock, folder, ...options });
  try {
    await body(again);
  } finally {
    await again.stop();
    rmSync(folder, { recursive: true, force: true });
    gateway = await TestGateway.start({ clock });
  }
}

/** A crash leaves no note that the project was closed with nothing under way. */
async function forgetRest(folder: string, projectId: string): Promise<void> {
  const control = await ControlStore.open(
    { kind: 'file', path: join(folder, 'control.db') },
    () => undefined,
  );
  await control.idleMarkers.end(projectId);
  await control.close();
}

const expiry = () => project.store.read((store) => store.idempotency.nextExpiry());
const keep = (count: number, expiresAt: number) =>
  writerOf(project).write(async (store) => {
    for (let n = 0; n < count; n += 1) {
      const answer = { op: 'key_list', inputDigest: '', committed: Buffer.from('x') };
      await store.idempotency.insert('key_a', `${expiresAt} ${n}`, answer, expiresAt);
    }
  });

const activity = () =>
  gateway
    .call<{
      items: { last_event_at: string; events_24h: number; rejected_24h: number }[];
    }>('GET', '/v1/sources')
    .then(({ body }) => body.items[0]);

/** A file as an earlier run left it, whose row was never written. */
const orphan = (): string => {
  const name = hash('sha256', 'orphan');
  const folder = join(gateway.folder, 'projects', gateway.projectId, 'blobs', name.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), 'orphan');
  const then = clock.now() / 1000 - 2 * 3600;
  utimesSync(join(folder, name), then, then);
  return join(folder, name);
};

describe('kept answers', () => {
  it('go when their day is over, though nobody writes any more', async () => {
    await keep(250, clock.now() + DAY_MS);
    await keep(1, clock.now() + 2 * DAY_MS);
    clock.advance(DAY_MS - 1);
    await maintain(project, clock);
    expect(await expiry()).toBe(clock.now() + 1);
    clock.advance(1);
    await maintain(project, clock);
    expect(await expiry()).toBe(clock.now() + DAY_MS);
  });

  it('go without a call: maintenance asks for its next time', async () => {
    await keep(1, clock.now() + 200);
    await maintain(project, clock);
    clock.advance(200);
    await expect.poll(expiry, SOON).toBeNull();
  });

  it('stay while the clock is not steady', async () => {
    await keep(1, clock.now() + DAY_MS);
    clock.advance(30 * DAY_MS);
    await maintain(project, clock, { deletionClock: UNSTEADY });
    expect(await expiry()).not.toBeNull();
  });
});

describe('the counts of a source by hour', () => {
  it('are deleted after a day; when it last received something is not', async () => {
    const url = await gateway.addSource({ name: 'open' });
    const first = new Date(clock.now()).toISOString();
    await gateway.deliver(url, 'one');
    await gateway.deliver(url, 'two');
    expect(await activity()).toMatchObject({
      last_event_at: first,
      events_24h: 2,
      rejected_24h: 0,
    });
    clock.advance(40 * HOUR_MS);
    expect(await activity()).toMatchObject({ last_event_at: first, events_24h: 0 });
    const [source] = await project.store.read((store) => store.sources.list());
    await writerOf(project).write((store) =>
      store.sources.countUnstored(source?.id ?? '', clock.now(), { rejected: 3, repeated: 2 }),
    );
    expect(await activity()).toMatchObject({
      last_event_at: first,
      events_24h: 0,
      rejected_24h: 3,
      repeated_24h: 2,
    });
    // As of an earlier hour: what was counted then is gone.
    const before = await project.store.read((store) =>
      store.sources.activity(source?.id ?? '', clock.now() - 40 * HOUR_MS),
    );
    expect(before).toMatchObject({ last_event_at: first, events_24h: 0, rejected_24h: 3 });
    await gateway.deliver(url, 'three');
    const latest = new Date(clock.now()).toISOString();
    expect(await activity()).toMatchObject({ last_event_at: latest, events_24h: 1 });
  });
});

describe('a retry of a delivery', () => {
  it('that falls due while maintenance is under way is made', async () => {
    const receiver = await Receiver.start();
    receiver.answer(500);
    await gateway.stop();
    gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
    project = await projectOf(gateway, gateway.projectId);
    const routes = new Routes(gateway);
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    const { next_attempt_at: next } = await routes.attempted(routeId, 1);
    receiver.answer(204);
    // A slow machine: the time passes between the look at what is due and the question what is due next.
    const { deliveries } = project;
    const wakeDue = deliveries.wakeDue.bind(deliveries);
    deliveries.wakeDue = async () => {
      await wakeDue();
      clock.advance(Math.max(0, Date.parse(next ?? '') + 1 - clock.now()));
    };
    project.atLatest(clock.now());
    expect(await routes.attempted(routeId, 2)).toMatchObject({ status: 'delivered' });
    await receiver.stop();
  });
});

describe('a start', () => {
  it('after a crash deletes files that no row names, once the clock is deletionClock', async () => {
    const path = orphan();
    let waitMs = 300;
    const deletionClock: DeletionClock = {
      asOf: (now) => (waitMs === 0 ? now : null),
      waitMs: () => waitMs,
    };
    await restarted({ deletionClock, crashed: true }, async () => {
      // Whatever the start did in the background is done.
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(existsSync(path)).toBe(true);
      waitMs = 0;
      clock.advance(300);
      await expect.poll(() => existsSync(path), SOON).toBe(false);
    });
  });

  it('finishes a project whose making was cut short', async () => {
    const { folder } = gateway;
    const id = 'prj_0123456789abcdef';
    await gateway.stop({ keepFolder: true });
    const open = () =>
      ControlStore.open({ kind: 'file', path: join(folder, 'control.db') }, () => undefined);
    const control = await open();
    const created_at = new Date(clock.now()).toISOString();
    await control.reserveProject({ id, slug: 'half', name: 'Half', created_at });
    await control.close();
    gateway = await TestGateway.start({ clock, folder });
    expect((await gateway.gateway.createAdminKey(id)).apiKey).toContain('svc_live_');
    await gateway.stop({ keepFolder: true });
    const after = await open();
    expect((await after.findProject(id))?.state).toBe('active');
    await after.close();
    rmSync(folder, { recursive: true, force: true });
    gateway = await TestGateway.start({ clock });
  });

  it('that is ended at once waits for its maintenance and leaves nothing open', async () => {
    const path = orphan();
    await restarted({}, async (again) => {
      await again.gateway.close();
      const after = existsSync(path);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(existsSync(path)).toBe(after);
    });
  });
});
