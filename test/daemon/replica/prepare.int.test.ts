import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCopyLog } from '../../../daemon/replica/sync/copy-log.ts';
import type { FramePosition } from '../../../daemon/replica/verify/frame-positions.ts';
import { noteCheckpoint } from '../../../daemon/replica/sync/checkpoint-sums.ts';
import { PageSummer } from '../../../daemon/replica/verify/page-sums.ts';
import { prepareCopy } from '../../../daemon/replica/serve/prepare.ts';
import { ReplicaFolder } from '../../../daemon/replica/sync/replica-folder.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const PAGE_BYTES = 4096;
const FRAME_BYTES = PAGE_BYTES + 24;

let temporary: ReturnType<typeof temporaryFolder>;
/** A database whose files are those of the copy at the same moment. */
let original: Connection;
let originalPath: string;
let folder: ReplicaFolder;

beforeEach(() => {
  temporary = temporaryFolder();
  originalPath = join(temporary.path, 'original.db');
  original = new Connection(originalPath);
  original.exec('PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0');
  original.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)');
  for (let id = 0; id < 40; id += 1) put(id, 3000);
  fold();
  folder = new ReplicaFolder(join(temporary.path, 'copy'));
  folder.writeSums({ generation: 4, sums: sumsOf(originalPath) });
});

afterEach(() => {
  original.close();
  temporary.remove();
});

function put(id: number, bytes: number): void {
  original.exec(`INSERT OR REPLACE INTO t VALUES (${id}, randomblob(${bytes}))`);
}

function fold(): void {
  original.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function sumsOf(path: string): Uint32Array {
  const bytes = readFileSync(path);
  const summer = new PageSummer(bytes.length);
  for (let at = 0; at < bytes.length; at += 1000) summer.add(bytes.subarray(at, at + 1000));
  return summer.sums;
}

/** The files of the original, as they are now, are those of the copy. */
function copyFiles(): void {
  copyFileSync(originalPath, folder.databasePath);
  copyFileSync(`${originalPath}-wal`, folder.logPath);
}

/** A copy with two commits in its log. Answers how many frames they have. */
async function withLog(): Promise<number> {
  put(3, 2000);
  put(50, 9000);
  copyFiles();
  const { frames } = await readCopyLog(folder.logPath, Infinity);
  expect(statSync(folder.logPath).size).toBe(32 + frames * FRAME_BYTES);
  folder.writeSyncedTo({ generation: 4, frames });
  await notePlaces(frames);
  return frames;
}

/** Notes the end of each commit in the log, as the daemon does before the client gets it. */
async function notePlaces(frames: number): Promise<void> {
  const places = new Map<number, FramePosition>();
  for (let count = 1; count <= frames; count += 1) {
    const { frames: ours, sum } = await readCopyLog(folder.logPath, count);
    if (ours > 0) places.set(ours, { ours, theirs: ours + 5, sum });
  }
  await folder.writePositions({ generation: 4, places: [...places.values()] });
}

function placesPath(): string {
  return `${folder.databasePath}-frames`;
}

function sumsPath(): string {
  return `${folder.databasePath}-sums`;
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

describe('a copy whose last process was ended', () => {
  it('in order, is ready', async () => {
    const frames = await withLog();
    expect(await prepareCopy(folder)).toEqual({ state: 'ready' });
    expect(folder.readSyncedTo()).toEqual({ generation: 4, frames });
  });

  it('before it noted a commit, is ready: the notes are mended', async () => {
    const frames = await withLog();
    folder.writeSyncedTo({ generation: 4, frames: frames - 2 });
    expect(await prepareCopy(folder)).toEqual({ state: 'ready' });
    expect(folder.readSyncedTo()).toEqual({ generation: 4, frames });
  });

  it('in the middle of a commit, is ready without it', async () => {
    const frames = await withLog();
    folder.writeSyncedTo({ generation: 4, frames: 0 });
    truncateSync(folder.logPath, 32 + (frames - 1) * FRAME_BYTES);
    expect(await prepareCopy(folder)).toEqual({ state: 'ready' });
    const committed = folder.readSyncedTo()?.frames;
    expect(committed).toBeGreaterThan(0);
    expect(committed).toBeLessThan(frames - 1);
  });

  it('has no more in its log than was committed, though whole frames follow', async () => {
    put(3, 2000);
    copyFiles();
    const first = await readCopyLog(folder.logPath, Infinity);
    const frames = await withLog();
    expect(frames).toBeGreaterThan(first.frames);
    expect(await readCopyLog(folder.logPath, first.frames)).toMatchObject({
      frames: first.frames,
      pages: first.pages,
      sums: first.sums,
    });
    expect((await readCopyLog(folder.logPath, 0)).frames).toBe(0);
  });

  it.each([
    ['before its log was folded in', () => readFileSync(folder.databasePath)],
    ['when all of its log was folded in', () => readFileSync(originalPath)],
    [
      'when half of its log was folded in',
      () => {
        const [before, after] = [readFileSync(folder.databasePath), readFileSync(originalPath)];
        const pages = before.length / PAGE_BYTES;
        for (let page = 0; page < pages; page += 2) {
          const at = page * PAGE_BYTES;
          after.copy(before, at, at, at + PAGE_BYTES);
        }
        return before;
      },
    ],
  ])('%s and the log not yet emptied, is ready', async (_, bytes) => {
    const frames = await withLog();
    await noteCheckpoint(folder, { generation: 4, frames });
    fold();
    writeFileSync(folder.databasePath, bytes());
    expect(await prepareCopy(folder)).toEqual({ state: 'ready' });
    expect(folder.readSyncedTo()).toEqual({ generation: 4, frames });
  });

  it('when its log was folded in and emptied, is ready: the notes are mended', async () => {
    const frames = await withLog();
    await noteCheckpoint(folder, { generation: 4, frames });
    fold();
    copyFiles();
    expect(await prepareCopy(folder)).toEqual({ state: 'ready' });
    expect(folder.readSyncedTo()).toEqual({ generation: 5, frames: 0 });
  });
});

describe('a copy that somebody changed', () => {
  const lost = "The replica's log lost frames.";
  const strange = "The replica's log isn't what the gateway sent.";
  const unknown = "The replica's checksums are missing or damaged.";
  const cases: readonly (readonly [string, () => unknown, string | RegExp])[] = [
    [
      'a byte of a page',
      () => flip(folder.databasePath, 12 * PAGE_BYTES + 1999),
      "Page 13 of the file isn't what the gateway sent.",
    ],
    [
      'pages are missing at its end',
      () => truncateSync(folder.databasePath, statSync(folder.databasePath).size - 10 * PAGE_BYTES),
      /^Page \d+ of the file isn't/,
    ],
    ['a byte of its log', () => flip(folder.logPath, 32 + FRAME_BYTES - 9), lost],
    ['the header of its log', () => flip(folder.logPath, 9), lost],
    ['its log is gone', () => rmSync(folder.logPath), lost],
    ['its log is emptied', () => truncateSync(folder.logPath, 0), lost],
    ['its log was folded in by another program', () => (fold(), copyFiles()), lost],
    ['its frame numbers are gone', () => rmSync(placesPath()), strange],
    ['its frame numbers are cut short', () => truncateSync(placesPath(), 30), strange],
    [
      'its frame numbers are of another log',
      () => {
        const { generation, places } = folder.readPositions() ?? { generation: 0, places: [] };
        const others = places.map((place) => ({ ...place, sum: place.sum - 1 }));
        return folder.writePositions({ generation, places: others });
      },
      strange,
    ],
    ['its checksums are gone', () => rmSync(sumsPath()), unknown],
    ['a byte of its checksums', () => flip(sumsPath(), 30), unknown],
    ['its checksums are cut short', () => truncateSync(sumsPath(), 30), unknown],
    ['its checksums are empty', () => truncateSync(sumsPath(), 0), unknown],
    [
      'its notes are of another generation',
      () => folder.writeSyncedTo({ generation: 9, frames: 0 }),
      unknown,
    ],
  ];

  it.each(cases)('is damaged: %s', async (_, change, reason) => {
    await withLog();
    await change();
    const damaged = { state: 'damaged', reason: expect.stringMatching(reason) as string };
    expect(await prepareCopy(folder)).toEqual(damaged);
  });

  it('is damaged: a byte of a page, when the log was just folded in', async () => {
    const frames = await withLog();
    await noteCheckpoint(folder, { generation: 4, frames });
    fold();
    copyFiles();
    flip(folder.databasePath, 12 * PAGE_BYTES + 1999);
    expect((await prepareCopy(folder)).state).toBe('damaged');
  });

  it('keeps its log from being folded in where that was changed', async () => {
    const frames = await withLog();
    flip(folder.logPath, 32 + FRAME_BYTES - 9);
    await expect(noteCheckpoint(folder, { generation: 4, frames })).rejects.toThrow(lost);
    expect(folder.readSums()?.generation).toBe(4);
  });
});

describe('the checksums of a copy', () => {
  it('are those of its file, however it grows and shrinks from generation to generation', async () => {
    const works = [
      () => put(60, 400_000),
      () => original.exec('DELETE FROM t WHERE id > 10; VACUUM'),
      () => undefined,
      () => original.exec('DELETE FROM t; VACUUM; CREATE TABLE u (a)'),
      () => put(1, 900_000),
      () => original.exec('DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)'),
      () => put(2, 20_000),
    ];
    let generation = 4;
    for (const work of works) {
      work();
      const log = existsSync(`${originalPath}-wal`) ? `${originalPath}-wal` : null;
      if (log) copyFileSync(log, folder.logPath);
      const { frames } = await readCopyLog(folder.logPath, Infinity);
      await noteCheckpoint(folder, { generation, frames });
      // Asked again, it's noted once.
      await noteCheckpoint(folder, { generation, frames });
      generation += 1;
      fold();
      expect(folder.readSums()).toEqual({ generation, sums: sumsOf(originalPath) });
    }
  });
});
