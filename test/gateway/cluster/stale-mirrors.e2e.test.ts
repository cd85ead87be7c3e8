import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StaleMirrors } from '../../../gateway/cluster/stale-mirrors.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { Pair } from './pair.ts';

const soon = { timeout: 60_000, interval: 20 };

let pair: Pair;
/** The project's mirror at the second gateway. */
let mirror: string;
/** Of another project. */
let otherKey: string;
beforeEach(async () => {
  pair = await Pair.start({ openProjectsMax: 1 });
  mirror = join(pair.folder, 'b', 'mirrors', pair.a.projectId);
  otherKey = (await pair.b.gateway.createProject({ name: 'Other', slug: 'other' })).apiKey;
  await pair.b.call('GET', '/v1/inbox');
});
afterEach(() => pair.stop());

/** What the second gateway does once a day. */
async function dropStale(): Promise<void> {
  const { gateway } = pair.b;
  const mirrors = new StaleMirrors({
    folder: join(pair.folder, 'b', 'mirrors'),
    control: { projects: () => gateway.listProjects() },
    projects: gateway.projects,
    clock: systemClock(),
  });
  await mirrors.start();
  mirrors.close();
}

/** Whether the mirror is still there. The gateway may have only one project open, so it isn't this one. */
async function isKept(): Promise<boolean> {
  expect((await pair.b.call('GET', '/v1/inbox', { key: otherKey })).status).toBe(200);
  age();
  await dropStale();
  return existsSync(mirror);
}

/** As if nobody had used it for more than a week. */
function age(): void {
  const long = Date.now() / 1000 - 8 * 86_400;
  for (const name of readdirSync(mirror)) utimesSync(join(mirror, name), long, long);
  utimesSync(mirror, long, long);
}

it('the mirror of a project that was deleted at another gateway goes while this one runs', async () => {
  await pair.a.gateway.projects.delete(pair.a.projectId);
  await expect.poll(isKept, soon).toBe(false);
});

it('a mirror that nobody used for a week goes unless it is open, and comes back when it is needed', async () => {
  const project = await pair.project(pair.b);
  const isOpenAndKept = async (): Promise<boolean> => {
    await pair.b.call('GET', '/v1/inbox');
    age();
    await dropStale();
    return project.isOpen && existsSync(mirror);
  };
  await expect.poll(isOpenAndKept, soon).toBe(true);
  await expect.poll(isKept, soon).toBe(false);
  expect((await pair.b.call('GET', '/v1/inbox')).status).toBe(200);
});
