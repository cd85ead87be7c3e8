import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventText, matchesSearch, parseSearch } from '../../../gateway/projects/event-text.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { BLOCK_EVENTS, EventIndex } from '../../../gateway/store/event-index.ts';
import { NO_LINKS } from '../../../shared/kernel/links.ts';
import { toEnvelope } from '../../../shared/kernel/envelope.ts';
import { FakeClock, STEADY, TestGateway } from '../../helpers/gateway.ts';
import { stopTime } from '../../helpers/stopped-time.ts';
import { projectOf } from '../../shared/operations/route/routes.ts';

const DAY_MS = 86_400_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

describe('a search over the events of a project', () => {
  const clock = new FakeClock();
  let gateway: TestGateway;
  let project: Project;
  let hook: string;
  let path: string;
  beforeAll(async () => {
    gateway = await TestGateway.start({ clock });
    project = await projectOf(gateway);
    hook = await gateway.addSource({ name: 'shop' });
    path = join(gateway.folder, 'projects', gateway.projectId, 'search.db');
  });
  afterAll(() => gateway.stop());
  // However slow the machine is, no search is cut short.
  beforeEach(() => void stopTime());

  let sent = 0;
  const send = async (text: string, count = 1): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      sent += 1;
      await gateway.deliver(hook, JSON.stringify({ text, n: sent }), { 'webhook-id': `d${sent}` });
    }
  };

  /** The positions that match, and how many rows were read to find them. */
  async function find(query: string, { beforeSeq = NEWEST, limit = 100 } = {}) {
    const search = parseSearch(query);
    if (!search) throw new Error('Nothing to search for.');
    let read = 0;
    const found = await project.searches.find({
      search,
      beforeSeq,
      fromSeq: 0,
      limit,
      check: async (seqs) => {
        read += seqs.length;
        const of = { bodyMaxBytes: 65_536, now: clock.now() };
        const rows = await project.store.read(({ eventHistory }) => eventHistory.at(seqs, of));
        const payload = { whole: true as const, ...NO_LINKS };
        const wanted = { project: project.info.id, now: clock.now(), reader: null, payload };
        return rows.filter((row) => matchesSearch(search, eventText(toEnvelope(row, wanted))));
      },
    });
    return { ...found, seqs: found.items.map(({ seq }) => seq), read };
  }

  /** Waits until a search finds nothing by reading all rows. */
  const indexed = async (): Promise<void> => {
    await expect.poll(async () => (await find('nowhere')).read, { interval: 20 }).toBeLessThan(64);
  };

  const isInFiles = (): boolean =>
    ['', '-wal']
      .map((end) => path + end)
      .some((one) => existsSync(one) && readFileSync(one).includes('unforgettable'));

  it('reads the events while there is no index, newest first and page by page', async () => {
    await send('needle one');
    await send('hay', 60);
    await send('needle two');
    const all = await find('needle');
    expect(all.seqs).toEqual([62, 1]);
    expect(all).toMatchObject({ nextSeq: null, isCut: false });
    const first = await find('needle', { limit: 1 });
    expect(first).toMatchObject({ seqs: [62], nextSeq: 62 });
    expect((await find('needle', { beforeSeq: 62 })).seqs).toEqual([1]);
  });

  it('reads only what matches once they are indexed, and what came since', async () => {
    await send('hay', 60);
    await find('needle');
    await indexed();
    await send('needle three');
    const found = await find('needle');
    expect(found.seqs).toEqual([123, 62, 1]);
    expect(found.read).toBeLessThan(70);
    expect((await find('text needle three')).seqs).toEqual([123]);
    expect((await find('needle', { beforeSeq: 123 })).seqs).toEqual([62, 1]);
  });

  it('goes on after the index was closed', async () => {
    await project.searches.close();
    expect((await find('needle')).seqs).toEqual([123, 62, 1]);
    await indexed();
    expect(statSync(path).size).toBeGreaterThan(0);
  });

  it('makes a new index in place of one that was made from another database', async () => {
    await project.searches.close();
    const foreign = EventIndex.open(path);
    await foreign.add({ block: 9, upToSeq: 9 * BLOCK_EVENTS, lastId: 'evt_other' }, []);
    foreign.close();
    expect((await find('needle')).seqs).toEqual([123, 62, 1]);
    await indexed();
  });

  it('has no word of a payload in its files once that is deleted', async () => {
    await send('unforgettable');
    await send('hay', 64);
    await find('needle');
    await indexed();
    expect(isInFiles()).toBe(true);
    clock.advance(31 * DAY_MS);
    await maintain(project, clock, { deletionClock: STEADY });
    expect(isInFiles()).toBe(false);
    expect((await find('needle')).seqs).toEqual([]);
    await send('needle four');
    expect((await find('needle')).seqs).toHaveLength(1);
  });
});
