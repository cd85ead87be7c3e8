import { readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Databases } from '../../../gateway/store/databases.ts';
import { mailInfo } from '../../../gateway/mail/mail-info.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { InProcessWriters } from '../../../gateway/commit/thread/in-process.ts';
import type { Effect } from '../../../gateway/commit/context/job.ts';
import { openWriter } from '../../../shared/store/engine/open.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
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
  expect(effects.map(({ kind }) => kind)).toEqual(['uncertain', 'foreign', 'due']);
  expect(effects.at(-1)).toEqual({ kind: 'due', at: 0 });
  faults.drops = drops;
  faults.failNext(0);
  const found = await writeTo(writers, PROJECT.id, (store) => store.channels.owner());
  expect(found?.id).toBe(owner.channelId);
  await writers.closeProject(PROJECT.id);
});

it('whoever looks afterwards sees what was committed, though no other gateway is there', async () => {
  const { store, masterKeyFile } = shared;
  const gateway = await TestGateway.start({ store, masterKeyFile, folder: `${folder.path}/a` });
  const project = await gateway.gateway.projects.find(gateway.projectId);
  if (!project) throw new Error('There is no project.');
  // Nothing is written meanwhile: a write would find out.
  await gateway.gateway.endWaits();
  const { server } = shared;
  const { faults } = server;
  const database = gateway.projectId.replace('_', '-');
  const drops = faults.drops.bind(faults);
  const { transactions } = server.counters(database);
  faults.drops = (hasCommitted) => {
    const isLost = hasCommitted && server.counters(database).transactions > transactions;
    if (isLost) faults.failNext(1_000_000);
    return isLost;
  };
  const key = { id: 'key_00000000000000000000000001', hash: 'abc', last4: 'abcd', now: 1 };
  await expect(project.writes.run('adminKey', key)).rejects.toMatchObject({
    hint: expect.stringContaining('look first'),
  });
  faults.drops = drops;
  faults.failNext(0);
  // Once a heartbeat has shown that it's alone, it asks the server for nothing that it could know itself.
  const beats = () => server.counters('svc-control').requests;
  const before = beats();
  await expect.poll(beats, { interval: 1 }).toBeGreaterThan(before + 2);
  const found = await project.store.read((one) => one.keys.find(key.id));
  expect(found?.last4).toBe(key.last4);
  await gateway.stop();
});
