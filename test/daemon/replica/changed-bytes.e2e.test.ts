import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplicaFolder } from '../../../daemon/replica/sync/replica-folder.ts';
import type { Replica } from '../../../daemon/replica/replica.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { caughtUp, collectingLog, until, untilState } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

/** Long enough to have a place of its own in the file. */
const valueIn = (name: string): string => `${name}: ${'truth '.repeat(20)}`;

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

/** Writes the value of `a`, and enough behind it for a later write of `z` to be in another page. */
async function writeFirst(): Promise<void> {
  await stage.write('a', valueIn('a'));
  for (let n = 0; n < 9; n += 1) await stage.write(`m-${n}`, 'x'.repeat(3000));
}

/** Leaves a copy that has the value of `a` in its database file, and that of `z` in its log. */
async function leaveCopy(): Promise<void> {
  const first = stage.replica();
  await untilState(first, 'live');
  await writeFirst();
  await stage.rotate();
  await caughtUp(first, await stage.write('z', valueIn('z')));
  await stage.close(first);
}

/** Changes the value of this key wherever the file has it, as a bad disk or an editor would. */
function changeValue(path: string, name: string): void {
  const bytes = readFileSync(path);
  const value = Buffer.from(valueIn(name));
  let at = bytes.indexOf(value);
  expect(at).toBeGreaterThan(0);
  for (; at >= 0; at = bytes.indexOf(value)) bytes.write('false', at + value.length - 6);
  writeFileSync(path, bytes);
}

/** SQLite itself finds nothing wrong. */
function expectSoundPages(): void {
  const path = stage.databasePath;
  const copy = `${path}.looked-at`;
  writeFileSync(copy, readFileSync(path));
  const found = withRawDatabase(copy, (database) => database.all('PRAGMA integrity_check'));
  expect(found).toEqual([{ integrity_check: 'ok' }]);
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
}

/** Every value that a replica ever shows for this key, until it is live. */
async function shownUntilLive(replica: Replica, name: string): Promise<Set<string | null>> {
  const shown = new Set<string | null>();
  await until(
    async () => {
      const { state } = replica.status;
      if (replica.store) shown.add(await valueOf(replica, name).catch(() => null));
      return state;
    },
    (state) => state === 'live',
  );
  shown.add(await valueOf(replica, name));
  shown.delete(null);
  return shown;
}

describe('a copy whose bytes were changed while the daemon was down', () => {
  it.each([
    ['its database file', 'a', ''],
    ['its log', 'z', '-wal'],
  ])('is not served, and copied again: in %s', async (_, name, suffix) => {
    await leaveCopy();
    changeValue(stage.databasePath + suffix, name);
    expectSoundPages();
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    const shown = await shownUntilLive(replica, name);
    expect([...shown]).toEqual([JSON.stringify(valueIn(name))]);
    expect(stage.copies).toBe(2);
    const warnings = lines.filter(({ level }) => Number(level) >= 40);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.['msg']).toBe('replica: the replica is damaged; copying it again');
  });

  it('is not served while the gateway is away either', async () => {
    await leaveCopy();
    changeValue(stage.databasePath, 'a');
    await stage.door.shut();
    const replica = stage.replica();
    const { detail } = await until(
      () => replica.status,
      (status) => status.detail !== null,
    );
    expect(detail).toMatch(/^Page \d+ of the file isn't what the gateway sent\.$/);
    expect(replica.store).toBeNull();
    expect(replica.freshness().usable).toBe('no');
    await stage.door.reopen();
    await untilState(replica, 'live');
    expect(await valueOf(replica, 'a')).toBe(JSON.stringify(valueIn('a')));
  });

  it('is served as before where nothing was changed, and followed through generations', async () => {
    await leaveCopy();
    const { log, lines } = collectingLog();
    for (const round of ['one', 'two']) {
      const replica = stage.replica({ log });
      await caughtUp(replica, await stage.write(round));
      await stage.rotate();
      await stage.rotate();
      await caughtUp(replica, await stage.write(`${round} more`));
      expect(await valueOf(replica, 'a')).toBe(JSON.stringify(valueIn('a')));
      await stage.close(replica);
    }
    expect(new ReplicaFolder(stage.replicaFolder).readSyncedTo()?.generation).toBeGreaterThan(3);
    expect(stage.copies).toBe(1);
    expect(lines).toEqual([]);
  });
});

describe('a copy whose bytes are changed while the daemon runs', () => {
  it('is found out at the next start, though its log was folded in meanwhile', async () => {
    const first = stage.replica();
    await untilState(first, 'live');
    await writeFirst();
    await stage.rotate();
    await caughtUp(first, await stage.write('y'));
    changeValue(stage.databasePath, 'a');
    await stage.rotate();
    await caughtUp(first, await stage.write('z'));
    await stage.close(first);
    const second = stage.replica();
    const shown = await shownUntilLive(second, 'a');
    expect([...shown]).toEqual([JSON.stringify(valueIn('a'))]);
    expect(stage.copies).toBe(2);
  });
});
