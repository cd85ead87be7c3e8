import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from '../../shared/lib/clock.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const START = Date.UTC(2026, 0, 1);

type Store = Pick<ProjectReader, 'read'> & Pick<ProjectWriter, 'write'>;

async function withStore(run: (store: Store) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'project.db');
  const writer = await ProjectWriter.open({ kind: 'file', path }, 'prj_0000000000000000', {
    onFatal: (error) => {
      throw error;
    },
  });
  const reader = await ProjectReader.open({ kind: 'file', path }, 'prj_0000000000000000');
  try {
    await run({ read: (fn) => reader.read(fn), write: (fn) => writer.write(fn) });
  } finally {
    await reader.close();
    await writer.close();
    folder.remove();
  }
}

async function fill(store: Store, times: readonly number[]): Promise<void> {
  await store.write(async ({ events }) => {
    for (const [index, time] of times.entries()) {
      const event = {
        id: `evt_${index + 1}`,
        sourceId: 'src_1',
        source: 'hooks',
        channel: 'webhook',
        type: 'webhook.received',
        receivedAt: isoTime(time),
        verified: true,
        trust: 'external_untrusted' as const,
        suspectedReplay: false,
        sizeBytes: 2,
        providerId: null,
        bodyHash: null,
        content: {
          headers: '{}',
          contentType: null,
          kind: 'json' as const,
          body: Buffer.from('{}'),
          blob: null,
        },
      };
      await events.insert(event, index + 1);
    }
  });
}

describe('a page of events since a time', () => {
  it('is what looking at every row gives, with gaps, equal times and a cursor', async () => {
    const steps = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 });
    const wanted = fc.array(
      fc.record({
        since: fc.integer({ min: -2, max: 130 }),
        afterSeq: fc.integer({ min: 0, max: 30 }),
        limit: fc.integer({ min: 1, max: 20 }),
      }),
      { minLength: 5, maxLength: 15 },
    );
    const property = fc.asyncProperty(steps, wanted, (gaps, pages) =>
      withStore(async (store) => {
        let at = START;
        const times = gaps.map((gap) => (at += gap));
        await fill(store, times);
        for (const { since, afterSeq, limit } of pages) {
          const sinceIso = isoTime(START + since);
          const expected = times
            .map((time, index) => ({ seq: index + 1, iso: isoTime(time) }))
            .filter(({ seq, iso }) => seq > afterSeq && iso >= sinceIso)
            .map(({ seq }) => seq)
            .slice(0, limit);
          const filter = { status: 'pending', afterSeq, limit, now: at, since: sinceIso } as const;
          const rows = await store.read(({ events }) => events.page(filter));
          expect(rows.map(({ seq }) => seq)).toEqual(expected);
        }
      }),
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it('leaves bodies over the inline size out, and finds them whole by id', async () => {
    await withStore(async (store) => {
      await fill(store, [START]);
      await store.write(({ events }) => events.setRemark(1, 'result', '{"a":1}'));
      const whole = await store.read(({ events }) => events.findWhole('evt_1', START));
      expect(Buffer.from(whole?.body ?? []).toString()).toBe('{}');
      expect(await store.read(({ events }) => events.findWhole('evt_2', START))).toBeUndefined();
    });
  });
});
