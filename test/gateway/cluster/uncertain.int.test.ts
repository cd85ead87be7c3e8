import { readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Databases } from '../../../gateway/store/databases.ts';
import { mailInfo } from '../../../gateway/mail/mail-info.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { InProcessWriters } from '../../../gateway/commit/in-process.ts';
import type { Effect } from '../../../gateway/commit/job.ts';
import { openWriter } from '../../../shared/store/open.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { SharedStore } from '../../helpers/shared-store.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';
import { writeTo } from '../../helpers/writers.ts';

beforeEach(() => hurryTime(10));

const PROJECT = { id: 'prj_0123456789abcdef', slug: 'test', name: 'Test' };

let folder: ReturnType<typeof temporaryFolder>;
let shared: SharedStore;
beforeEach(async () => {
  folder = temporaryFolder();
  shared = await SharedStore.start(folder.path);
});
afterEach(async () => {
  await shared.stop();
  folder.remove();
});

const urls = { api: 'http://127.0.0.1', mcp: 'http://127.0.0.1/mcp', hooks: 'http://127.0.0.1' };

function openWriters(): InProcessWriters {
  const mail = mailInfo(readMailConfig({}), false);
  return new InProcessWriters({
    masterKey: Buffer.alloc(32, 7),
    server: { version: '0', urls, channels: ['email'], mail, telegramBot: null },
    onFatal: () => undefined,
  });
}

/** How often this process has a mirror's index open, once the driver has let go of closed ones. */
async function openIndexes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  const paths = readdirSync('/proc/self/fd').map(linkOf);
  return paths.filter((path) => path.startsWith(folder.path) && path.includes('.db-shm')).length;
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

it.skipIf(process.platform !== 'linux')(
  'a project whose first write fails is closed again, each time',
  async () => {
    const writers = openWriters();
    const location = new Databases(folder.path, shared.store).ofProject(PROJECT.id);
    await (await openWriter(location, 'project', { onFatal: () => undefined })).close();
    const { faults } = shared.server;
    const fate = faults.fate.bind(faults);
    for (let round = 0; round < 4; round += 1) {
      let requests = 0;
      // It asks for the mode, the schema, the log and the newest group. Then it makes the key of the ledger.
      faults.fate = async () => ((requests += 1) > 4 ? 503 : fate());
      const opening = writers.open({ info: PROJECT, location }, () => undefined);
      await expect(opening).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(requests).toBeGreaterThan(4);
    }
    expect(await openIndexes()).toBeLessThan(4);
  },
);

it('what may have been committed is looked for: waits look again, and what it made due is done', async () => {
  const writers = openWriters();
  const location = new Databases(folder.path, shared.store).ofProject(PROJECT.id);
  const effects: Effect[] = [];
  await writers.open({ info: PROJECT, location }, (more) => effects.push(...more));
  const { faults } = shared.server;
  const drops = faults.drops.bind(faults);
  // The commit is done, its answer is lost, and after that nobody can be asked.
  faults.drops = (hasCommitted) => {
    if (hasCommitted) faults.failNext(1_000_000);
    return hasCommitted;
  };
  effects.length = 0;
  const owner = { channelId: 'chn_00000000000000000000000001', address: 'a@example.com', now: 1 };
  await expect(writers.run(PROJECT.id, 'setOwner', owner)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    hint: expect.stringContaining('It may have happened all the same.'),
  });
  expect(effects.map(({ kind }) => kind)).toEqual(['foreign', 'due']);
  expect(effects.at(-1)).toEqual({ kind: 'due', at: 0 });
  faults.drops = drops;
  faults.failNext(0);
  const found = await writeTo(writers, PROJECT.id, (store) => store.channels.owner());
  expect(found?.id).toBe(owner.channelId);
  await writers.closeProject(PROJECT.id);
});
