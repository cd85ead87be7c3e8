import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { WriteTx } from '../../shared/store/engine/driver.ts';
import { openDatabase, withRawDatabase } from '../helpers/database.ts';

let open: ReturnType<typeof openDatabase>;
beforeEach(() => {
  open = openDatabase();
});
afterEach(() => open.remove());

const put =
  (name: string, value: string | Uint8Array = 'x') =>
  (tx: WriteTx) =>
    tx.run('INSERT INTO item (name, value) VALUES (?, ?)', [name, value]);
const walBytes = (): number => statSync(`${open.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

describe('the embedded database', () => {
  it('syncs at every commit and never checkpoints by itself', async () => {
    const pragmas = await open.database.write(async (tx) => ({
      ...(await tx.get('PRAGMA synchronous')),
      ...(await tx.get('PRAGMA wal_autocheckpoint')),
      ...(await tx.get('PRAGMA journal_mode')),
      ...(await tx.get('PRAGMA foreign_keys')),
    }));
    expect(Object.values(pragmas)).toEqual([2, 0, 'wal', 1]);
  });

  it('reads through a connection that cannot write', async () => {
    const pragmas = await open.database.read(async (tx) => ({
      ...(await tx.get('PRAGMA query_only')),
      ...(await tx.get('PRAGMA wal_autocheckpoint')),
    }));
    expect(Object.values(pragmas)).toEqual([1, 0]);
    const write = open.database.read((tx) => tx.run("INSERT INTO item VALUES ('a', 1)"));
    await expect(write).rejects.toThrow(/readonly|read-only|query_only/i);
  });

  it('folds the log into the file when it is long and nobody waits, and loses nothing', async () => {
    const big = Buffer.alloc(512 * 1024, 7);
    for (let index = 0; index < 12; index += 1) await open.database.write(put(`n${index}`, big));
    expect(statSync(open.path).size + walBytes()).toBeGreaterThan(12 * big.length);
    await expect.poll(walBytes).toBe(0);
    expect(statSync(open.path).size).toBeGreaterThan(12 * big.length);
    const row = await open.database.read((tx) =>
      tx.get('SELECT count(*) AS n, sum(length(value)) AS bytes FROM item'),
    );
    expect(row).toEqual({ n: 12, bytes: 12 * big.length });
  });

  it('writes the log anew in place under load: the file stays as long as it was', async () => {
    const big = Buffer.alloc(512 * 1024, 7);
    const lengths: number[] = [];
    const until = performance.now() + 30_000;
    // Never a pause: what nobody waits for would be emptied.
    for (let index = 0; index < 160 && performance.now() < until; index += 1) {
      await open.database.write(put(`n${index}`, big));
      lengths.push(walBytes());
    }
    expect(Math.max(...lengths)).toBeLessThan(20 * 1024 * 1024);
    expect(lengths.slice(40).filter((length) => length === lengths[40]).length).toBeGreaterThan(60);
    const row = await open.database.read((tx) =>
      tx.get('SELECT count(*) AS n, sum(length(value)) AS bytes FROM item'),
    );
    expect(row).toEqual({ n: lengths.length, bytes: lengths.length * big.length });
    await open.database.close();
    expect(withRawDatabase(open.path, (raw) => raw.get('PRAGMA integrity_check'))).toEqual({
      integrity_check: 'ok',
    });
  });

  it('goes on when a stranger keeps the log in use, and folds it in again when he is gone', async () => {
    const big = Buffer.alloc(1024 * 1024, 7);
    const stranger = new Connection(open.path);
    await open.database.write(put('first', big));
    stranger.exec('BEGIN');
    stranger.get('SELECT count(*) AS n FROM item');
    for (let index = 0; index < 20; index += 1) await open.database.write(put(`a${index}`, big));
    const held = walBytes();
    expect(held).toBeGreaterThan(20 * 1024 * 1024);
    expect(stranger.get('SELECT count(*) AS n FROM item')).toEqual({ n: 1 });
    stranger.exec('COMMIT');
    stranger.close();
    await expect.poll(walBytes).toBe(0);
    expect(open.fatal).toEqual([]);
  });

  it('empties the log when it closes, and the data is in the file', async () => {
    await open.database.write(put('kept'));
    expect(walBytes()).toBeGreaterThan(0);
    await open.database.close();
    expect(walBytes()).toBe(0);
    const row = withRawDatabase(open.path, (raw) => ({
      ...raw.get('SELECT name FROM item'),
      ...raw.get('PRAGMA integrity_check'),
    }));
    expect(row).toEqual({ name: 'kept', integrity_check: 'ok' });
  });

  it('keeps a rotation and readers apart', async () => {
    const big = Buffer.alloc(1024 * 1024, 1);
    const writes = Array.from({ length: 12 }, (_, n) => open.database.write(put(`n${n}`, big)));
    const counts: number[] = [];
    const reads = Array.from({ length: 200 }, async () => {
      const row = await open.database.read((tx) => tx.get('SELECT count(*) AS n FROM item'));
      counts.push(Number(row?.['n']));
    });
    await Promise.all([...writes, ...reads]);
    expect(counts).toHaveLength(200);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(open.fatal).toEqual([]);
  });

  it('fails a group whole when the file is locked by somebody else, and says to come again', async () => {
    const other = new Connection(open.path);
    other.exec('BEGIN IMMEDIATE');
    try {
      await expect(open.database.write(put('a'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
    await open.database.write(put('a'));
    expect(open.fatal).toEqual([]);
  });
});
