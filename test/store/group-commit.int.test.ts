import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteTx } from '../../shared/store/engine/driver.ts';
import { openDatabase } from '../helpers/database.ts';
import { stopTime } from '../helpers/stopped-time.ts';

let open: ReturnType<typeof openDatabase>;
beforeEach(() => {
  open = openDatabase();
});
afterEach(() => open.remove());

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.run(INSERT, [name, 1]);

async function names(): Promise<string[]> {
  const rows = await open.database.read((tx) => tx.all('SELECT name FROM item ORDER BY name'));
  return rows.map((row) => String(row['name']));
}

async function commits(): Promise<number> {
  const row = await open.database.read((tx) =>
    tx.get("SELECT value FROM meta WHERE name = 'commit_seq'"),
  );
  return Number(row?.['value']);
}

describe('a transaction that the database rolled back by itself', () => {
  it.each([
    ['a job that failed', true],
    ['a job that did not mind', false],
  ])('fails what ran in it, after %s, and what follows has one of its own', async (_, fails) => {
    stopTime();
    // What SQLite may do on a failed read of a page; the job itself has written nothing.
    const lost = async (tx: WriteTx) => {
      await tx.get('ROLLBACK');
      if (fails) throw new Error('disk I/O error');
      return 1;
    };
    const jobs = [put('a'), lost, put('c'), put('d')].map((job) => open.database.write(job));
    const outcomes = await Promise.allSettled(jobs);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await names()).toEqual(['c', 'd']);
    expect(await commits()).toBe(1);
  });
});

describe('rotation on demand', () => {
  it('leaves nothing of deleted rows in the log', async () => {
    await open.database.write((tx) => tx.run(INSERT, ['the secret of a payload', 1]));
    await open.database.write((tx) => tx.run('DELETE FROM item'));
    await open.database.rotate();
    expect(await names()).toEqual([]);
    expect(statSync(`${open.path}-wal`).size).toBe(0);
    expect(readFileSync(open.path).includes('the secret of a payload')).toBe(false);
  });
});
