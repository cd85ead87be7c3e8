import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChatDirectory } from '../../../gateway/approvals/chat-directory.ts';
import { createVault } from '../../../gateway/lib/vault.ts';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const CHAT = 4711;
const PROJECTS = ['prj_aaaaaaaaaaaaaaaa', 'prj_bbbbbbbbbbbbbbbb', 'prj_cccccccccccccccc'];

type Deps = ConstructorParameters<typeof ChatDirectory>[0];

let folder: ReturnType<typeof temporaryFolder>;
let control: ControlStore;
beforeEach(async () => {
  folder = temporaryFolder();
  const place = { kind: 'file', path: join(folder.path, 'control.db') } as const;
  control = await ControlStore.open(place, () => undefined);
  for (const id of PROJECTS) {
    const created_at = '2026-11-01T00:00:00.000Z';
    await control.reserveProject({ id, slug: id.slice(4), name: id, created_at });
    await control.confirmProject(id);
  }
});
afterEach(async () => {
  await control.close();
  folder.remove();
});

/** The directory of one of the gateways that share a control database. */
function directoryOf(changes: Partial<Deps['store']> = {}): ChatDirectory {
  const { chats } = control;
  return new ChatDirectory({
    store: {
      add: (id, row) => chats.add(id, row),
      projectsOf: (hash) => chats.projectsOf(hash),
      unnoted: () => chats.unnoted(),
      replace: (id, rows, now) => chats.replace(id, rows, now),
      ...changes,
    },
    vault: createVault(randomBytes(32)),
    clock: new FakeClock(),
    onError: () => undefined,
  });
}

/** Projects without chats; one is damaged. */
function opener(opened: string[], damaged?: string): Parameters<ChatDirectory['noting']>[0] {
  const run = async (id: string): Promise<void> => {
    opened.push(id);
    if (id === damaged) throw new Error('The database is damaged.');
    await control.chats.replace(id, [], Date.now());
  };
  return { find: async (id) => ({ members: { run: () => run(id) } }) };
}

const isComplete = async (directory: ChatDirectory): Promise<boolean> =>
  (await directory.projectsOf(CHAT)).isComplete;

describe('chats that are not noted when a message comes', () => {
  it('are noted although the database was away when the gateway started', async () => {
    const { chats } = control;
    let isAway = true;
    const directory = directoryOf({
      unnoted: () => (isAway ? Promise.reject(new Error('It is away.')) : chats.unnoted()),
    });
    const projects = opener([]);
    await directory.noting(projects).start();
    isAway = false;
    expect(await isComplete(directory)).toBe(false);
    await expect
      .poll(() => {
        directory.noteRest(projects);
        return isComplete(directory);
      }, SOON)
      .toBe(true);
  });

  it('leave a gateway that is not the first no damaged project to wait for', async () => {
    const [first, second] = [directoryOf(), directoryOf()];
    const opened: string[] = [];
    await first.noting(opener(opened, PROJECTS[1])).start();
    await expect.poll(() => isComplete(first), SOON).toBe(true);
    expect(opened).toEqual(PROJECTS);
    expect(await isComplete(second)).toBe(false);
    const looked: string[] = [];
    second.noteRest(opener(looked, PROJECTS[1]));
    await expect.poll(() => isComplete(second), SOON).toBe(true);
    expect(looked).toEqual([PROJECTS[1]]);
  });

  it('are noted after a crash halfway without opening those that were done', async () => {
    const [before, after] = [directoryOf(), directoryOf()];
    const task = before.noting(opener([], PROJECTS[1]));
    await task.start();
    await expect.poll(() => isComplete(before), SOON).toBe(true);
    await task.stop();
    const opened: string[] = [];
    await after.noting(opener(opened)).start();
    await expect.poll(() => isComplete(after), SOON).toBe(true);
    expect(opened).toEqual([PROJECTS[1]]);
  });
});
