import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withRawDatabase } from '../helpers/database.ts';
import { serveLog } from '../helpers/log-server.ts';
import { startReplica, type Content } from '../helpers/replica.ts';
import { FollowedDatabase } from './followed-database.ts';

const MB = 1024 * 1024;

let db: FollowedDatabase;
beforeEach(() => {
  db = new FollowedDatabase();
});
afterEach(() => db.remove());

/** A minute of fake timers, and a moment for the work they start. */
async function minute(): Promise<void> {
  await vi.advanceTimersByTimeAsync(61_000);
  await sleep(50);
}

/** Holds copies, which processes make, until the returned function is called, so that any write is quicker. */
function holdCopies(): () => void {
  const { execPath } = process;
  const [program, mayEnd] = [`${db.path}-program`, `${db.path}-may-end`];
  const script = `#!/bin/sh
    trap 'kill "$copying"; exit 1' TERM
    '${execPath}' "$@" &
    copying=$!
    wait "$copying"
    code=$?
    until [ -e '${mayEnd}' ]; do sleep 0.01; done
    exit "$code"`;
  writeFileSync(program, script, { mode: 0o755 });
  process.execPath = program;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  return () => writeFileSync(mayEnd, '');
}

describe('a log that somebody else reads', () => {
  it('goes on while he reads from it, and is rotated once he has left', async () => {
    await db.writer.follow();
    await db.put('a');
    const leave = db.readingStranger();
    await db.put('b');
    await db.writer.rotate();
    expect(db.place.generation).toBe(1);
    expect(db.files()).toEqual(['1.wal.part', 'state.json']);
    await db.put('c');
    const { frames } = db.place;
    expect(db.place.generation).toBe(1);
    await db.writer.rotate();
    expect(db.place).toMatchObject({ generation: 1, frames });
    leave();
    const log = db.wal();
    await db.writer.rotate();
    expect(db.place.generation).toBe(2);
    expect(readFileSync(db.inside('1.wal'))).toEqual(log);
  });

  it('is rotated a minute later when he has left by then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await db.writer.follow();
    await db.put('a');
    const leave = db.readingStranger();
    await db.writer.rotate();
    for (let tried = 0; tried < 10; tried += 1) await minute();
    expect(db.place.generation).toBe(1);
    leave();
    for (let tried = 0; tried < 100 && db.place.generation === 1; tried += 1) await minute();
    expect(db.place.generation).toBe(2);
  });

  it('is begun anew in place when he has left before the next write', async () => {
    await db.writer.follow();
    await db.put('a');
    const leave = db.readingStranger();
    await db.writer.rotate();
    const before = db.wal();
    const { epoch, salts } = db.place;
    leave();
    await db.put('b');
    expect(db.place).toMatchObject({ epoch, generation: 2 });
    expect(db.place.salts).not.toBe(salts);
    expect(readFileSync(db.inside('1.wal'))).toEqual(before);
    expect(db.wal().toString('hex', 16, 24)).toBe(db.place.salts);
    expect(db.state()).toMatchObject({ generation: 2, salts: db.place.salts, folded_in: false });
  });

  it('is begun anew in place by a transaction that was taken back', async () => {
    await db.writer.follow();
    await db.put('a');
    const leave = db.readingStranger();
    await db.writer.rotate();
    leave();
    await db.takeBack();
    expect(db.place.generation).toBe(2);
    await db.put('b');
    expect(db.place.generation).toBe(2);
    expect(db.place.frames).toBeLessThan(20);
  });

  it('cannot be followed from there, nor copied, until he has left', async () => {
    await db.put('a');
    const leave = db.readingStranger();
    await db.put('b');
    await expect(db.writer.follow()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    leave();
    await db.writer.follow();
    await db.put('c');
    const again = db.readingStranger();
    await db.put('d');
    await db.writer.rotate();
    await expect(db.writer.copyBase()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    again();
    const copy = await db.writer.copyBase();
    expect(copy.generation).toBe(2);
    const rows = withRawDatabase(copy.path, (raw) => raw.all('SELECT name FROM item'));
    expect(rows.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a copy of the file', () => {
  it('is what the generation began with, and made once', async () => {
    await db.put('a');
    await db.writer.follow();
    await db.put('b');
    const [copy, same] = await Promise.all([db.writer.copyBase(), db.writer.copyBase()]);
    expect(same).toEqual(copy);
    const { epoch } = db.place;
    const sizeBytes = statSync(db.path).size;
    expect(copy).toEqual({ epoch, generation: 1, path: db.inside('1.db'), sizeBytes });
    expect(readFileSync(copy.path)).toEqual(readFileSync(db.path));
    const { ino } = statSync(copy.path);
    expect(await db.writer.copyBase()).toEqual(copy);
    expect(statSync(copy.path).ino).toBe(ino);
    const names = withRawDatabase(copy.path, (raw) => raw.all('SELECT name FROM item'));
    expect(names).toEqual([{ name: 'a' }]);
  });

  it('holds no writes back, and rotations only until it is done', async () => {
    await db.put('a', Buffer.alloc(40 * MB, 1));
    await db.writer.follow();
    const letCopiesEnd = holdCopies();
    const order: string[] = [];
    const copied = db.writer.copyBase().then((copy) => {
      order.push('copied');
      return copy;
    });
    await db.put('b').then(() => order.push('written'));
    const rotated = db.writer.rotate().then(() => order.push('rotated'));
    letCopiesEnd();
    await Promise.all([copied, rotated]);
    expect(order).toEqual(['written', 'copied', 'rotated']);
    expect((await copied).generation).toBe(1);
    expect(db.place.generation).toBe(2);
  });

  it('is given up when the database is closed', async () => {
    await db.put('a', Buffer.alloc(40 * MB, 1));
    await db.writer.follow();
    holdCopies();
    const copied = db.writer.copyBase();
    await db.put('b');
    await Promise.all([
      expect(copied).rejects.toMatchObject({ code: 'UNAVAILABLE' }),
      db.writer.close(),
    ]);
    await db.reopen();
    expect(db.files().filter((name) => name.includes('.db'))).toEqual([]);
  });

  it('stays for ten minutes after it was last asked for, also beyond its generation', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.now() });
    try {
      await db.writer.follow();
      await db.put('a');
      await db.writer.copyBase();
      await vi.advanceTimersByTimeAsync(300_000);
      await db.writer.copyBase();
      await db.writer.rotate();
      await vi.advanceTimersByTimeAsync(590_000);
      expect(db.files()).toContain('1.db');
      await vi.advanceTimersByTimeAsync(20_000);
      expect(db.files()).toEqual(['1.wal', 'state.json']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a stock replica', () => {
  it('follows through many generations while rows are written all the time', async () => {
    await db.put('first', 'x'.repeat(100_000));
    await db.writer.follow();
    const server = await serveLog(db.writer, db.path);
    onTestFinished(() => server.close());
    const replica = startReplica(`${db.path}-replica`, server.url());
    onTestFinished(() => replica.end());
    expect(await replica.sync()).toMatchObject({
      integrity: 'ok',
      rows: [['first', 'x'.repeat(20), 100_000]],
    });
    replica.follow();
    let round = 0;
    // A rotation that comes right after another has nothing to do.
    for (; round < 60 && db.place.generation < 20; round += 1) {
      const names = Array.from({ length: 20 }, (_, n) => `r${round}-${n}`);
      await Promise.all([
        ...names.map((name) => db.put(name, name.repeat(300))),
        db.writer.rotate(),
        db.delete(`r${round - 1}-7`),
      ]);
    }
    expect(db.place.generation).toBe(20);
    const rows = withRawDatabase(db.path, (raw) =>
      raw.all(
        'SELECT name, substr(value, 1, 20) AS head, length(value) AS chars FROM item ORDER BY name',
      ),
    ).map(({ name, head, chars }) => [name, head, chars]);
    const content = (await replica.sync()) as Content;
    expect(content.integrity).toBe('ok');
    expect(content.rows).toHaveLength(1 + 20 * round - (round - 1));
    expect(content.rows).toEqual(rows);
  });
});
