import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { POSITION_QUERY } from '../../shared/store/tables/meta.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { stopTime } from '../helpers/stopped-time.ts';
import { FollowedDatabase } from './followed-database.ts';

const HOUR_MS = 3_600_000;
const MB = 1024 * 1024;

let db: FollowedDatabase;
beforeEach(() => {
  db = new FollowedDatabase();
});
afterEach(() => db.remove());

describe('a log that nobody follows', () => {
  it('is not kept: there are no files, whatever happens', async () => {
    await db.put('a', Buffer.alloc(6 * MB, 1));
    await db.writer.rotate();
    await db.put('b', Buffer.alloc(17 * MB, 1));
    await expect.poll(() => statSync(`${db.path}-wal`).size).toBe(0);
    await db.reopen();
    await db.put('c');
    expect(existsSync(db.inside('.'))).toBe(false);
    expect(db.told.map(({ log }) => log)).toEqual(db.told.map(() => null));
  });

  it('has no base', async () => {
    await expect(db.writer.copyBase()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('tells of each commit, before its jobs are answered', async () => {
    stopTime();
    expect(db.writer.replication).toEqual({ position: 0, log: null });
    await db.put('a');
    expect(db.told).toEqual([{ position: 1, log: null }]);
    const seen = await Promise.all(
      ['b', 'c', 'd'].map((name) => db.put(name).then(() => db.told.length)),
    );
    expect(seen).toEqual([2, 2, 2]);
    await db.put('a').catch(() => undefined);
    await db.reopen();
    const position = withRawDatabase(db.path, (raw) => raw.get(POSITION_QUERY)?.['value']);
    expect(db.writer.replication.position).toBe(position);
  });
});

describe('a log that is followed', () => {
  it('begins with all that was there before in the file, and nothing in the log', async () => {
    await db.put('a');
    const replication = await db.writer.follow();
    expect(replication.log).toMatchObject({ generation: 1, frames: 0, salts: null });
    expect(replication.log?.epoch).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(db.told.at(-1)).toEqual(replication);
    expect(statSync(`${db.path}-wal`).size).toBe(0);
    expect(db.files()).toEqual(['state.json']);
  });

  it('counts frames and knows their salts with each commit; both are as in the log', async () => {
    await db.writer.follow();
    await db.put('a');
    const first = db.place;
    await db.put('b');
    const wal = db.wal();
    expect(db.place.frames).toBeGreaterThan(first.frames);
    expect(wal.length).toBe(32 + db.place.frames * 4120);
    expect(db.place.salts).toBe(wal.toString('hex', 16, 24));
    expect(wal.toString('hex', 32 + 8, 32 + 16)).toBe(db.place.salts);
    expect(db.state()).toMatchObject({ salts: db.place.salts, generation: 1 });
  });

  it('leaves a generation behind that is the log as it was', async () => {
    await db.writer.follow();
    await db.put('a');
    const before = db.wal();
    const { epoch } = db.place;
    await db.writer.rotate();
    expect(db.place).toEqual({ epoch, generation: 2, frames: 0, salts: null });
    expect(db.told.at(-1)?.log).toEqual(db.place);
    expect(readFileSync(db.inside('1.wal'))).toEqual(before);
    expect(statSync(`${db.path}-wal`).size).toBe(0);
    await db.writer.rotate();
    expect(db.place.generation).toBe(2);
    expect(db.files()).toEqual(['1.wal', 'state.json']);
  });

  it('rotates by itself when it is long and nobody waits', async () => {
    await db.writer.follow();
    await db.put('a', Buffer.alloc(5 * MB, 1));
    await expect.poll(() => db.place.generation).toBe(2);
    expect(statSync(db.inside('1.wal')).size).toBeGreaterThan(5 * MB);
  });

  it('never has the frames of a transaction that was taken back', async () => {
    await db.writer.follow();
    await db.put('a');
    const before = db.place;
    await db.takeBack();
    // They lie in the file all the same.
    expect(statSync(`${db.path}-wal`).size).toBeGreaterThan(MB);
    const salts = before.salts ?? '';
    expect(db.place.frames).toBeGreaterThanOrEqual(before.frames);
    expect(db.place.frames).toBeLessThan(before.frames + 20);
    await db.writer.rotate();
    const archive = readFileSync(db.inside('1.wal'));
    expect(archive.toString('hex', 16, 24)).toBe(salts);
    expect(archive.length).toBeLessThan(32 + (before.frames + 20) * 4120);
    expect(archive.readUInt32BE(archive.length - 4120 + 4)).toBeGreaterThan(0);
  });

  it('has nothing of what was deleted, in the file or the log, once it was rotated', async () => {
    const secret = 'the secret of a payload';
    await db.writer.follow();
    await db.put('a', secret.repeat(1000));
    await db.delete('a');
    await db.writer.rotate();
    await db.put('b');
    expect(readFileSync(db.path).includes(secret)).toBe(false);
    expect(db.wal().includes(secret)).toBe(false);
    expect(readFileSync((await db.writer.copyBase()).path).includes(secret)).toBe(false);
    expect(readFileSync(db.inside('1.wal')).includes(secret)).toBe(true);
  });

  it('is kept for a day after the last call, noted once an hour', async () => {
    const epoch = (await db.writer.follow()).log?.epoch;
    const first = db.state();
    db.clock.advance(HOUR_MS - 1);
    await db.writer.follow();
    expect(db.state()).toEqual(first);
    db.clock.advance(1);
    await db.writer.follow();
    expect(db.state()).not.toEqual(first);
    db.clock.advance(24 * HOUR_MS - 1);
    await db.put('a');
    await db.writer.rotate();
    expect(db.place).toMatchObject({ epoch, generation: 2 });
    db.clock.advance(1);
    await db.put('b');
    await db.writer.rotate();
    expect(db.writer.replication.log).toBeNull();
    expect(db.told.at(-1)?.log).toBeNull();
    expect(existsSync(db.inside('.'))).toBe(false);
    expect((await db.writer.follow()).log?.epoch).not.toBe(epoch);
  });

  it('drops archives of more than a day, and the oldest of more than 256 MB', async () => {
    await db.writer.follow();
    for (const name of ['a', 'b', 'c', 'd']) {
      await db.put(name);
      await db.writer.rotate();
    }
    const old = db.clock.now() / 1000 - 24 * 3600 - 60;
    utimesSync(db.inside('1.wal'), old, old);
    await db.put('e');
    await db.writer.rotate();
    expect(db.files()).toEqual(['2.wal', '3.wal', '4.wal', '5.wal', 'state.json']);
    const bytes = statSync(db.inside('4.wal')).size + statSync(db.inside('5.wal')).size;
    // A hole, so that it fills no disk.
    writeFileSync(db.inside('3.wal'), '');
    truncateSync(db.inside('3.wal'), 256 * MB - bytes);
    await db.put('f');
    await db.writer.rotate();
    expect(db.files()).toEqual(['4.wal', '5.wal', '6.wal', 'state.json']);
  });

  it('ends its history when it was begun anew by somebody else, and goes on without', async () => {
    const epoch = (await db.writer.follow()).log?.epoch;
    await db.put('a');
    db.stranger().exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await db.put('b');
    expect(db.writer.replication.log).toBeNull();
    expect(db.told.at(-1)).toEqual(db.writer.replication);
    expect(existsSync(db.inside('.'))).toBe(false);
    expect((await db.writer.follow()).log?.epoch).not.toBe(epoch);
  });

  it('ends its history when what it has become cannot be recorded at the start', async () => {
    await db.writer.follow();
    await db.put('a');
    await db.writer.close();
    // As after a crash in a rotation: the next generation would have to be noted.
    const crashed = { ...db.state(), salts: 'ff'.repeat(8), file: null };
    writeFileSync(db.inside('state.json'), JSON.stringify(crashed));
    writeFileSync(db.inside('2.wal'), '');
    mkdirSync(db.inside('state.json.part'));
    await db.reopen();
    expect(db.writer.replication).toEqual({ position: 1, log: null });
    expect(existsSync(db.inside('.'))).toBe(false);
    await db.put('b');
  });

  it('ends its history when what it is cannot be recorded, and takes the write', async () => {
    await db.writer.follow();
    // Where the state is to be written there is a folder now, as no disk error would be kind enough to be.
    mkdirSync(db.inside('state.json.part'));
    await db.put('a');
    expect(db.writer.replication.log).toBeNull();
    rmSync(db.inside('.'), { recursive: true, force: true });
    expect(withRawDatabase(db.path, (raw) => raw.get('SELECT name FROM item'))).toEqual({
      name: 'a',
    });
  });
});
