import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BLOCK_EVENTS, EventIndex } from '../../../gateway/store/event-index.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const ID = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

describe('the index of events', () => {
  let folder: { path: string; remove: () => void };
  let path: string;
  let index: EventIndex;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder.path, 'search.db');
    index = EventIndex.open(path);
  });
  afterEach(() => {
    index.close();
    folder.remove();
  });

  const add = (first: number, ...texts: readonly string[]): Promise<void> =>
    index.add(
      { block: Math.floor(first / BLOCK_EVENTS), upToSeq: first + texts.length - 1, lastId: ID },
      texts.map((text, n) => ({ seq: first + n, terms: text.split(' ') })),
    );
  const match = (block: number, term: string, isPrefix = false, beforeSeq = 1_000_000) =>
    index.match(block, [{ term, isPrefix }], { beforeSeq, limit: 2 });

  it('answers the newest first, by whole words or their beginnings', async () => {
    await add(1, 'ana paid', 'bob', 'ana owes', 'anastasia ana');
    expect(match(0, 'ana')).toEqual([4, 3]);
    expect(match(0, 'ana', false, 3)).toEqual([1]);
    expect(match(0, 'anas')).toEqual([]);
    expect(match(0, 'anas', true)).toEqual([4]);
    const both = ['ana', 'paid'].map((term) => ({ term, isPrefix: false }));
    expect(index.match(0, both, { beforeSeq: 9, limit: 9 })).toEqual([1]);
  });

  it('takes any letters as one word', async () => {
    await add(1, 'ñandú 東京 ⅷ');
    for (const term of ['ñandú', '東京', 'ⅷ']) expect(match(0, term)).toEqual([1]);
  });

  it('keeps how far each block is, also after it is opened again', async () => {
    await add(1, 'one');
    await add(BLOCK_EVENTS, 'two', 'three');
    index.close();
    index = EventIndex.open(path);
    expect(index.blocks()).toEqual([
      { block: 1, upToSeq: BLOCK_EVENTS + 1, lastId: ID },
      { block: 0, upToSeq: 1, lastId: ID },
    ]);
    expect(match(1, 'three')).toEqual([BLOCK_EVENTS + 1]);
  });

  it('leaves no word of a dropped block in its files', async () => {
    await add(1, 'unforgettable');
    await add(BLOCK_EVENTS, 'kept');
    await index.drop(1);
    expect(index.blocks().map(({ block }) => block)).toEqual([1]);
    expect(match(1, 'kept')).toEqual([BLOCK_EVENTS]);
    for (const file of [path, `${path}-wal`]) {
      expect(readFileSync(file).includes('unforgettable')).toBe(false);
    }
    await index.drop(BLOCK_EVENTS);
    expect(index.blocks()).toEqual([]);
  });

  it('makes a new file in place of one that it cannot read', () => {
    index.close();
    writeFileSync(path, 'x'.repeat(10_000));
    index = EventIndex.open(path);
    expect(index.blocks()).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  it('adds all events of a call, or none', async () => {
    await add(1, 'one');
    await expect(add(1, 'again')).resolves.toBeUndefined();
    await expect(
      index.add({ block: 0, upToSeq: 3, lastId: ID }, [
        { seq: 2, terms: ['two'] },
        { seq: Number.NaN, terms: ['three'] },
      ]),
    ).rejects.toThrow('NaN');
    expect(match(0, 'two')).toEqual([]);
    expect(index.blocks()[0]?.upToSeq).toBe(1);
  });
});
