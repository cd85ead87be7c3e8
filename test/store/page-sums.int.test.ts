import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDatabase } from '../../gateway/store/check-database.ts';
import type { Connection } from '../../shared/store/engine/connection.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { readSums } from '../../shared/store/sums/page-sums.ts';
import type { FileDamage } from '../../shared/store/sums/sum-keeper.ts';
import { makeItems, withRawDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const PAGE = 4096;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let reported: FileDamage[];
let writer: EmbeddedWriter;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'test.db');
  reported = [];
  writer = open();
});
afterEach(async () => {
  await writer.close();
  folder.remove();
});

function open(): EmbeddedWriter {
  return openAt(path);
}

function openAt(database: string): EmbeddedWriter {
  return new EmbeddedWriter(
    database,
    { onFatal: () => undefined, onDamage: (damage) => reported.push(damage) },
    makeItems,
  );
}

async function reopen(): Promise<void> {
  await writer.close();
  writer = open();
}

function put(name: string, value: string | Uint8Array = name): Promise<number> {
  return writer.write((tx) => tx.run('INSERT INTO item VALUES (?, ?)', [name, value]));
}

async function fill(rows = 400): Promise<void> {
  for (let row = 0; row < rows; row += 1) await put(`name-${row}`, `value-${row}-`.repeat(9));
  await put('long', Buffer.alloc(10 * PAGE, 7));
}

/** Names what a check finds, as `file what`. */
async function check(): Promise<string[]> {
  const damage: string[] = [];
  for await (const step of checkDatabase(path, { dataFolder: folder.path, project: null })) {
    if ('what' in step) damage.push(`${step.file} ${step.what}`);
  }
  return damage;
}

/** How many pages have no sum. */
function unknownPages(): number {
  const sums = readSums(path);
  if (sums === null || sums === 'damaged') throw new Error('There are no sums.');
  expect(sums.sums.length).toBe(statSync(path).size / PAGE);
  return sums.sums.filter((sum) => sum === 0).length;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0x20;
  writeFileSync(file, bytes);
}

/** The page of a b-tree, index or overflow, by its first use of a name. */
function pageOf(name: string, type: 'leaf' | 'internal' | 'overflow' = 'leaf'): number {
  return withRawDatabase(path, (raw) =>
    Number(
      raw.get('SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? LIMIT 1', [name, type])?.[
        'pageno'
      ],
    ),
  );
}

/** By the SQLite file format, section 1.5. */
function freePage(kind: 'trunk' | 'leaf'): number {
  const bytes = readFileSync(path);
  const trunk = bytes.readUInt32BE(32);
  return kind === 'trunk' ? trunk : bytes.readUInt32BE((trunk - 1) * PAGE + 8);
}

describe('a flipped byte in a database that nobody has open', () => {
  beforeEach(async () => {
    await fill();
    await writer.write((tx) => tx.run("DELETE FROM item WHERE name LIKE 'name-1%'"));
    await writer.close();
  });

  it('is nowhere: there is nothing to find', async () => {
    expect(await check()).toEqual([]);
    expect(unknownPages()).toBe(0);
  });

  it.each([
    ['a page of the table', () => pageOf('item')],
    ['an inner page of the table', () => pageOf('item', 'internal')],
    ['a page of the index', () => pageOf('sqlite_autoindex_item_1')],
    ['an overflow page', () => pageOf('item', 'overflow')],
    ['the first page', () => 1],
    ['a page that lists free ones', () => freePage('trunk')],
    ['a free page', () => freePage('leaf')],
  ])('is found in %s', async (_, pageNumber) => {
    const page = pageNumber();
    flip(path, (page - 1) * PAGE + 99);
    expect(await check()).toEqual([`test.db page ${page}`]);
    flip(path, (page - 1) * PAGE + 99);
    expect(await check()).toEqual([]);
  });

  it('is found in any byte of any page', async () => {
    const pages = statSync(path).size / PAGE;
    for (let page = 1; page <= pages; page += 1) {
      const at = (page - 1) * PAGE + ((page * 997) % PAGE);
      flip(path, at);
      expect(await check()).toEqual([`test.db page ${page}`]);
      flip(path, at);
    }
  });

  it('is found in the sums themselves', async () => {
    const { size } = statSync(`${path}-sums`);
    for (let at = 0; at < size; at += 13) {
      flip(`${path}-sums`, at);
      expect(await check()).toEqual(['test.db-sums its sums']);
      flip(`${path}-sums`, at);
    }
  });

  it('stays found after the database was opened and written to', async () => {
    const page = pageOf('item', 'overflow');
    flip(path, (page - 1) * PAGE + 99);
    writer = open();
    await put('more');
    await reopen();
    expect(await check()).toEqual([`test.db page ${page}`]);
  });

  it('makes a file that was cut unusable, by name, and without a change to it', () => {
    const cut = statSync(path).size - 3 * PAGE;
    truncateSync(path, cut);
    expect(open).toThrow(/test\.db is damaged: only \d+ of its \d+ pages are there/);
    truncateSync(path, 0);
    expect(open).toThrow(/test\.db is damaged: only 0 of its \d+ pages are there/);
    expect(statSync(path).size).toBe(0);
  });
});

describe('a log that a killed process left, with a broken frame', () => {
  it('is kept with what follows, and nothing older is served', async () => {
    await put('a');
    await put('b');
    await put('c');
    const copy = join(folder.path, 'killed.db');
    for (const end of ['', '-wal']) copyFileSync(path + end, copy + end);
    flip(`${copy}-wal`, 32 + 24 + 50);
    const { size } = statSync(`${copy}-wal`);
    const refused = /killed\.db is damaged: its log has a broken frame/;
    expect(() => openAt(copy)).toThrow(refused);
    expect(reported).toEqual([{ path: `${copy}-wal`, what: 'frame 1' }]);
    expect(statSync(`${copy}-wal`).size).toBe(size);
  });
});

describe('a file that is empty though it has a log', () => {
  it('is named, and keeps its log', async () => {
    await put('a');
    truncateSync(path, 0);
    const { size } = statSync(`${path}-wal`);
    expect(await check()).toEqual(['test.db its length']);
    expect(() => open()).toThrow(/test\.db is damaged: it is empty, and its log is not/);
    expect(statSync(`${path}-wal`).size).toBe(size);
  });
});

describe('a file that is missing though it has a log', () => {
  it('is named, and keeps its log', async () => {
    await put('a');
    const alone = join(folder.path, 'alone.db');
    copyFileSync(`${path}-wal`, `${alone}-wal`);
    const { size } = statSync(`${alone}-wal`);
    expect(() => openAt(alone)).toThrow(/alone\.db is damaged: it is missing, and its log is not/);
    expect([existsSync(alone), statSync(`${alone}-wal`).size]).toEqual([false, size]);
  });
});

describe('a database that is open', () => {
  it('has no damage, whatever of its log is in the file', async () => {
    await fill();
    expect(await check()).toEqual([]);
    await writer.rotate();
    expect(await check()).toEqual([]);
    await put('more');
    expect(await check()).toEqual([]);
  });

  it('has no damage while it is written, folded and emptied', async () => {
    const done = new AbortController();
    const writing = (async () => {
      for (let round = 0; !done.signal.aborted; round += 1) {
        await put(`round-${round}`, Buffer.alloc(30_000, round));
        if (round % 3 === 0) await writer.rotate();
      }
    })();
    const found: string[] = [];
    for (let round = 0; round < 10; round += 1) found.push(...(await check()));
    done.abort();
    await writing;
    expect(found).toEqual([]);
  });

  it('has a flipped byte of its log reported once the log goes to the file, and the page stays damaged', async () => {
    await put('a', Buffer.alloc(3 * PAGE, 1));
    await writer.rotate();
    await put('b', Buffer.alloc(3 * PAGE, 2));
    flip(`${path}-wal`, 32 + 24 + 50);
    await writer.rotate();
    expect(reported).toEqual([{ path: `${path}-wal`, what: 'frame 1' }]);
    expect(await check()).toEqual([expect.stringMatching(/^test\.db page \d+$/)]);
  });

  it('has a flipped byte of its log found by a check', async () => {
    await put('a');
    await put('b');
    await put('c');
    flip(`${path}-wal`, 32 + 24 + 50);
    expect(await check()).toEqual(['test.db-wal frame 1']);
  });

  it('gets sums when it is opened and has none: it is one of an earlier release', async () => {
    await fill(50);
    await writer.close();
    rmSync(`${path}-sums`);
    expect(await check()).toEqual([]);
    writer = open();
    expect(unknownPages()).toBe(0);
    const page = pageOf('item', 'overflow');
    flip(path, page * PAGE - 5);
    expect(await check()).toEqual([`test.db page ${page}`]);
  });

  it('reports that its sums are damaged, and has new ones after a while', async () => {
    await fill(50);
    await writer.close();
    writeFileSync(`${path}-sums`, 'nonsense');
    expect(await check()).toEqual(['test.db-sums its sums']);
    writer = open();
    expect(reported).toEqual([{ path: `${path}-sums`, what: 'its sums' }]);
    await put('more');
    await reopen();
    expect(await check()).toEqual([]);
    expect(unknownPages()).toBe(0);
  });
});

describe('a free page that rotted and was used afterwards', () => {
  it('is right again', async () => {
    await fill();
    await writer.write((tx) => tx.run("DELETE FROM item WHERE name = 'long'"));
    await writer.close();
    const page = freePage('leaf');
    flip(path, (page - 1) * PAGE + 99);
    expect(await check()).toEqual([`test.db page ${page}`]);
    writer = open();
    await put('longer', Buffer.alloc(20 * PAGE, 8));
    await reopen();
    expect(await check()).toEqual([]);
    expect(reported).toEqual([]);
  });
});

describe('a page that rotted and was changed afterwards', () => {
  let page: number;

  beforeEach(async () => {
    await put('good');
    await put('rotten', 'as-it-was-written');
    await writer.close();
    page = pageOf('item');
    flip(path, readFileSync(path).indexOf('as-it-was-written'));
    writer = open();
    await put('later');
  });

  it('is named while its change is in the log only', async () => {
    expect(await check()).toEqual([`test.db page ${page}`]);
  });

  it('gets no sum that makes it right, however often it is changed', async () => {
    for (let round = 0; round < 3; round += 1) {
      await put(`round-${round}`);
      await writer.rotate();
      expect(await check()).toEqual([`test.db page ${page}`]);
    }
    await reopen();
    expect(await check()).toEqual([`test.db page ${page}`]);
    expect(reported.map(({ what }) => what)).toEqual([`page ${page}`]);
  });
});

describe('a copy that never had a log', () => {
  it('gets sums that stay true when it is opened', async () => {
    await fill(30);
    await writer.close();
    rmSync(`${path}-sums`);
    withRawDatabase(path, (raw) => raw.exec(`VACUUM INTO '${path}.copy'`));
    renameSync(`${path}.copy`, path);
    writer = open();
    expect(await check()).toEqual([]);
    await put('more');
    await reopen();
    expect(await check()).toEqual([]);
    expect(unknownPages()).toBe(0);
  });
});

describe('sums of another file', () => {
  it('are forgotten where an earlier release has written since', async () => {
    await fill(30);
    await writer.close();
    // An earlier release commits like this one and knows nothing of sums.
    withRawDatabase(path, (raw: Connection) => {
      raw.exec("UPDATE meta SET value = value + 1; INSERT INTO item VALUES ('theirs', 1)");
      raw.get('PRAGMA wal_checkpoint(TRUNCATE)');
    });
    expect(await check()).toEqual([]);
    writer = open();
    expect(await check()).toEqual([]);
    expect(unknownPages()).toBe(0);
  });

  it('are kept where a single page differs', async () => {
    await fill(30);
    await writer.close();
    const page = pageOf('meta');
    flip(path, page * PAGE - 1);
    writer = open();
    expect(await check()).toEqual([`test.db page ${page}`]);
  });
});
