import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readArchived, readLive } from '../../../gateway/replica/log-file.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const FRAME = 24 + 4096;

let folder: { path: string; remove: () => void };
let database: Libsql.Database;
let log: string;
let archive: string;

beforeEach(() => {
  folder = temporaryFolder();
  const path = join(folder.path, 'project.db');
  log = `${path}-wal`;
  archive = join(folder.path, '1.wal');
  database = new Libsql(path);
  for (const pragma of ['page_size=4096', 'journal_mode=WAL', 'wal_autocheckpoint=0']) {
    database.prepare(`PRAGMA ${pragma}`).get([]);
  }
  database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)');
});
afterEach(() => {
  database.close();
  folder.remove();
});

/** A transaction; a long one changes many pages. */
function write(bytes = 10): void {
  database.prepare('INSERT INTO t (body) VALUES (?)').run(['x'.repeat(bytes)]);
}

function checkpoint(kind: 'RESTART' | 'TRUNCATE'): void {
  database.prepare(`PRAGMA wal_checkpoint(${kind})`).get([]);
}

function salts(path = log): string {
  return readFileSync(path).toString('hex', 16, 24);
}

function count(path = log): number {
  return (readFileSync(path).length - 32) / FRAME;
}

function inFile(path: string, from: number, to: number): Buffer {
  return readFileSync(path).subarray(32 + (from - 1) * FRAME, 32 + (to - 1) * FRAME);
}

describe('the log at hand', () => {
  it('gives its frames byte for byte', async () => {
    write(50_000);
    write();
    const end = count() + 1;
    const whole = await readLive(log, { from: 1, to: end }, salts());
    expect(whole?.equals(inFile(log, 1, end))).toBe(true);
    const part = await readLive(log, { from: 3, to: 6 }, salts());
    expect(part?.equals(inFile(log, 3, 6))).toBe(true);
  });

  it('gives nothing of another generation, however it was begun', async () => {
    write(50_000);
    const old = salts();
    const frames = count();
    checkpoint('TRUNCATE');
    expect(await readLive(log, { from: 1, to: 2 }, old)).toBeNull();
    write();
    expect(await readLive(log, { from: 1, to: 2 }, old)).toBeNull();
    expect(await readLive(log, { from: 1, to: 2 }, salts())).toHaveLength(FRAME);
    // In place: frames of the old one stand behind those of the new.
    for (let n = 0; n < frames; n += 1) write();
    const second = salts();
    const last = count();
    checkpoint('RESTART');
    write();
    expect(count()).toBe(last);
    expect(salts()).not.toBe(second);
    expect(await readLive(log, { from: last, to: last + 1 }, second)).toBeNull();
    expect(await readLive(log, { from: last, to: last + 1 }, salts())).toBeNull();
    expect(await readLive(log, { from: 1, to: 2 }, salts())).toHaveLength(FRAME);
  });

  it('gives nothing when it ends too early, or is not there', async () => {
    write();
    const end = count() + 1;
    expect(await readLive(log, { from: end - 1, to: end + 1 }, salts())).toBeNull();
    truncateSync(log, 32 + FRAME - 1);
    expect(await readLive(log, { from: 1, to: 2 }, '00'.repeat(8))).toBeNull();
    expect(await readLive(join(folder.path, 'none'), { from: 1, to: 2 }, salts())).toBeNull();
  });
});

describe('an archived log', () => {
  beforeEach(() => {
    write(50_000);
    copyFileSync(log, archive);
  });

  it('gives its frames up to its end, and none from there', async () => {
    const end = count(archive) + 1;
    const rest = await readArchived(archive, { from: 5, to: 100_000 });
    expect(rest?.equals(inFile(archive, 5, end))).toBe(true);
    const part = await readArchived(archive, { from: 2, to: 4 });
    expect(part?.equals(inFile(archive, 2, 4))).toBe(true);
    expect(await readArchived(archive, { from: end, to: end + 9 })).toHaveLength(0);
    expect(await readArchived(archive, { from: end + 1, to: end + 9 })).toBeNull();
  });

  it('is none when it is not there, not whole, or holds frames of another', async () => {
    const end = count(archive) + 1;
    expect(existsSync(join(folder.path, '2.wal'))).toBe(false);
    expect(await readArchived(join(folder.path, '2.wal'), { from: 1, to: 2 })).toBeNull();
    const bytes = readFileSync(archive);
    writeFileSync(archive, bytes.subarray(0, -1));
    expect(await readArchived(archive, { from: 1, to: 2 })).toBeNull();
    writeFileSync(archive, bytes.subarray(0, 20));
    expect(await readArchived(archive, { from: 1, to: 2 })).toBeNull();
    bytes.writeUInt8(bytes.readUInt8(32 + 2 * FRAME + 8) ^ 1, 32 + 2 * FRAME + 8);
    writeFileSync(archive, bytes);
    expect(await readArchived(archive, { from: 1, to: end })).toBeNull();
    expect(await readArchived(archive, { from: 1, to: 3 })).toHaveLength(2 * FRAME);
  });

  it('has no end within a transaction', async () => {
    const frames = count(archive);
    truncateSync(archive, 32 + (frames - 1) * FRAME);
    expect(await readArchived(archive, { from: frames, to: frames + 1 })).toBeNull();
  });

  it('may be empty', async () => {
    truncateSync(archive, 32);
    expect(await readArchived(archive, { from: 1, to: 2 })).toHaveLength(0);
  });
});
