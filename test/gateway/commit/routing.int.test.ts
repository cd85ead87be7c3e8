import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCallbackUrl } from '../../../gateway/callbacks/callback-url.ts';
import { destinationOf } from '../../../gateway/commit/commands/inbox/destination.ts';
import { InProcessWriters } from '../../../gateway/commit/thread/in-process.ts';
import { Routing } from '../../../gateway/commit/context/open-routes.ts';
import { newProjectId } from '../../../shared/lib/ids.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { writeTo } from '../../helpers/writers.ts';

const folder = temporaryFolder();
let writers: InProcessWriters;
let projectId: string;
let routing: Routing;

beforeEach(async () => {
  const urls = { api: '', mcp: '', hooks: '' };
  const server = {
    version: '0',
    urls,
    channels: [],
    telegramBot: null,
    mail: { domain: null, from: null },
  };
  writers = new InProcessWriters({
    masterKey: randomBytes(32),
    server,
    onFatal: () => undefined,
  });
  const info = { id: newProjectId(), slug: 'a', name: 'a' };
  const path = join(folder.path, `${info.id}.db`);
  projectId = info.id;
  await writers.open({ info, location: { kind: 'file', path } }, () => undefined);
  routing = new Routing();
});
afterEach(() => writers.closeProject(projectId));

/** Runs in a transaction of its own. */
const write = <T>(fn: (store: Repositories) => Promise<T>): Promise<T> =>
  writeTo(writers, projectId, fn);
const open = (store: Repositories) =>
  routing.open(store).then((routes) => routes.map(({ id }) => id));

const insert = (store: Repositories, id: string): Promise<void> =>
  store.routes.insert({
    id,
    callback_url: 'https://example.com/',
    destination: 'example.com:443',
    match_source: null,
    match_type: null,
    enabled: 1,
    disabled_reason: null,
    secret: new Uint8Array(1),
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: null,
  });

async function add(store: Repositories, id: string): Promise<void> {
  await insert(store, id);
  routing.changed(store);
}

describe('the routes of a project', () => {
  it('are read once, also when there are none', async () => {
    expect(await write(open)).toEqual([]);
    // Nobody says that something has changed.
    await write((store) => insert(store, 'rte_1'));
    expect(await write(open)).toEqual([]);
  });

  it('are read again after a change', async () => {
    await write(open);
    await write((store) => add(store, 'rte_1'));
    expect(await write(open)).toEqual(['rte_1']);
    await write(async (store) => {
      await store.routes.remove('rte_1', '2026-01-02T00:00:00.000Z');
      routing.changed(store);
    });
    expect(await write(open)).toEqual([]);
  });

  it('are seen by the transaction that changes them', async () => {
    await write(open);
    const seen = await write(async (store) => {
      await add(store, 'rte_1');
      const first = await open(store);
      await add(store, 'rte_2');
      return [first, await open(store)];
    });
    expect(seen).toEqual([['rte_1'], ['rte_1', 'rte_2']]);
  });

  it('are those of before when a change was undone', async () => {
    await write(open);
    const failing = write(async (store) => {
      await add(store, 'rte_1');
      expect(await open(store)).toEqual(['rte_1']);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await write(open)).toEqual([]);
  });

  it('are right for each job of a group in which one is undone', async () => {
    await write(open);
    const jobs = [
      write(open),
      write((store) => add(store, 'rte_1')),
      write(open),
      write(async (store) => {
        await add(store, 'rte_2');
        await open(store);
        throw new Error('undone');
      }),
      write(open),
    ];
    const results = await Promise.allSettled(jobs);
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual([
      [],
      undefined,
      ['rte_1'],
      'failed',
      ['rte_1'],
    ]);
    expect(await write(open)).toEqual(['rte_1']);
  });
});

describe('the destination of a callback', () => {
  it.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?a=1',
    'https://EXAMPLE.com:443',
    'https://[2606:4700::1111]/x',
    'https://1.1.1.1:1024',
  ])('%s is the one that the check of the address names', (url) => {
    expect(destinationOf(url)).toBe(parseCallbackUrl(url).destination);
  });
});
