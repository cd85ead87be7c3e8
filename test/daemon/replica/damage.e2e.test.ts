import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteCheckpoint } from '../../../daemon/replica/sync/checkpoint-sums.ts';
import { ReplicaFolder } from '../../../daemon/replica/sync/replica-folder.ts';
import { takeLock } from '../../../shared/store/engine/lock.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { caughtUp, collectingLog, until, untilState } from './open-replica.ts';
import { Stage, tamper, valueOf } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
  for (let n = 0; n < 30; n += 1) await stage.write(`key-${n}`, 'x'.repeat(3000));
});

afterEach(() => stage.end());

/** Follows once, closes, lets `damage` have the files, and follows again. Answers what was logged then. */
async function afterwards(damage: () => void): Promise<Record<string, unknown>[]> {
  const first = stage.replica();
  await untilState(first, 'live');
  await stage.rotate();
  await caughtUp(first, await stage.write('a'));
  await caughtUp(first, await stage.write('b'));
  await stage.close(first);
  damage();
  const { log, lines } = collectingLog();
  const second = stage.replica({ log });
  await caughtUp(second, await stage.write('c'));
  expect(await valueOf(second, 'key-29')).toBe(JSON.stringify('x'.repeat(3000)));
  expect(await valueOf(second, 'c')).toBe('"c"');
  return lines;
}

function flip(path: string, at: number, count: number): void {
  const file = openSync(path, 'r+');
  const bytes = Buffer.alloc(count);
  readSync(file, bytes, 0, count, at);
  writeSync(
    file,
    bytes.map((byte) => byte ^ 0xff),
    0,
    count,
    at,
  );
  closeSync(file);
}

describe('a copy that was damaged while nobody looked', () => {
  const cases: readonly (readonly [string, () => void])[] = [
    ['the file is cut short', () => truncateSync(stage.databasePath, 20_480)],
    ['the file is cut within its header', () => truncateSync(stage.databasePath, 50)],
    ['pages were flipped', () => flip(stage.databasePath, 8192, 30_000)],
    ['the notes are gone', () => rmSync(`${stage.databasePath}-info`)],
    ['the notes are damaged', () => flip(`${stage.databasePath}-info`, 10, 3)],
    ['the file is gone', () => rmSync(stage.databasePath)],
    ['the log is gone', () => rmSync(`${stage.databasePath}-wal`)],
    ['the log is cut short', () => truncateSync(`${stage.databasePath}-wal`, 32 + 4120)],
    ['the record is damaged', () => writeFileSync(`${stage.replicaFolder}/replica.json`, '{')],
    [
      'the notes tell of a generation to come',
      () => new ReplicaFolder(stage.replicaFolder).writeSyncedTo({ generation: 99, frames: 0 }),
    ],
  ];

  it.each(cases)('is made anew: %s', async (_, damage) => {
    const lines = await afterwards(damage);
    expect(stage.copies).toBe(2);
    expect(lines.filter(({ msg }) => msg === 'replica: copying the database')).toHaveLength(1);
    const warnings = lines.filter(({ level }) => Number(level) >= 40);
    expect(warnings.length).toBeLessThanOrEqual(1);
  });

  it('is mended where only the notes are behind: what is there is compared again', async () => {
    const lines = await afterwards(() => {
      const folder = new ReplicaFolder(stage.replicaFolder);
      const { generation = 0, frames = 0 } = folder.readSyncedTo() ?? {};
      expect(frames).toBeGreaterThan(1);
      folder.writeSyncedTo({ generation, frames: 1 });
    });
    expect(stage.copies).toBe(1);
    expect(lines).toEqual([]);
  });

  it('is mended where the log was folded in and the notes do not say so', async () => {
    const first = stage.replica();
    // What is written before that may be in the copy, and not in its log.
    await untilState(first, 'live');
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    const folder = new ReplicaFolder(stage.replicaFolder);
    const notes = folder.readSyncedTo() ?? { generation: 0, frames: 0 };
    expect(notes.frames).toBeGreaterThan(0);
    await stage.rotate();
    // As the relay and the client do it, before the client's notes.
    await noteCheckpoint(folder, notes);
    withRawDatabase(stage.databasePath, (copy) => copy.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    const log = statSync(`${stage.databasePath}-wal`, { throwIfNoEntry: false });
    expect(log?.size ?? 0).toBe(0);
    const second = stage.replica();
    await caughtUp(second, await stage.write('b'));
    expect(await valueOf(second, 'a')).toBe('"a"');
    expect(await valueOf(second, 'b')).toBe('"b"');
    expect(stage.copies).toBe(1);
  });
});

describe('a copy that is damaged while it is read', () => {
  it('is not read any more, and made anew', async () => {
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await caughtUp(replica, await stage.write('a'));
    await stage.rotate();
    await caughtUp(replica, await stage.write('b'));
    // All of it at once: what the connection holds in memory does not notice.
    flip(stage.databasePath, 0, statSync(stage.databasePath).size);
    const seen = await until(
      async () => ({
        copies: stage.copies,
        code: await replica.store
          ?.read(({ ledger }) => ledger.range(1, 1000, 1000))
          .then(
            () => 'none',
            (error: unknown) => (error as { code?: string }).code ?? 'none',
          ),
      }),
      ({ copies }) => copies === 2,
    );
    // Never anything that would be shown as a fault of the service.
    expect([undefined, 'none', 'UNAVAILABLE']).toContain(seen.code);
    await caughtUp(replica, await stage.write('c'));
    expect(await valueOf(replica, 'key-0')).toBe(JSON.stringify('x'.repeat(3000)));
    // The verifier may have met the damage too.
    const warnings = lines.filter(
      ({ level, msg }) => level === 40 && !String(msg).startsWith('witness:'),
    );
    expect(warnings).toHaveLength(1);
  });
});

describe('a gateway with another history', () => {
  it('is copied anew', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    const { epoch } = replica.status;
    await stage.restart(() => rmSync(`${stage.projectFolder}/generations`, { recursive: true }));
    const position = await stage.write('b');
    await until(
      () => replica.status.epoch,
      (seen) => seen !== epoch && seen !== null,
    );
    await caughtUp(replica, position);
    expect(await valueOf(replica, 'b')).toBe('"b"');
    expect(stage.copies).toBe(2);
  });

  it('that came back with the same one is followed on', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    await stage.restart();
    await caughtUp(replica, await stage.write('b'));
    expect(await valueOf(replica, 'b')).toBe('"b"');
    expect(stage.copies).toBe(1);
  });

  it('that has lost commits is copied anew', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    await stage.close(replica);
    const folder = new ReplicaFolder(stage.replicaFolder);
    const record = folder.readRecord();
    if (!record) throw new Error('There is no record.');
    folder.writeRecord({ ...record, position: record.position + 10 });
    const { log, lines } = collectingLog();
    await untilState(stage.replica({ log }), 'live');
    expect(lines[0]).toMatchObject({ reason: 'It lost commits.' });
    expect(stage.copies).toBe(2);
  });
});

describe('a gateway whose database has more than tables', () => {
  it('is not copied from into what is read, and said to be so', async () => {
    const endless =
      'CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n';
    await stage.restart(() => tamper(`${stage.projectFolder}/project.db`, endless));
    const replica = stage.replica();
    const { detail } = await until(
      () => replica.status,
      (status) => status.detail !== null,
    );
    expect(detail).toBe(`It has "endless", which isn't a plain table or index.`);
    expect(replica.store).toBeNull();
  });
});

const PAGE = '<html><body>Sign in to the network of this hotel.</body></html>';
/** What may stand in front of a gateway, or happen on the way to it. */
const TROUBLES: readonly NonNullable<ReturnType<Stage['door']['trouble']>>[] = [
  'cut',
  503,
  { status: 404, page: PAGE },
  { status: 200, page: PAGE },
  { status: 500, page: '{"generation":7}' },
  { status: 400, page: '{}' },
  { status: 302, page: PAGE },
];

describe('a copy that is in order', () => {
  it('is kept, whatever the line does and whoever answers in place of the gateway', async () => {
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await caughtUp(replica, await stage.write('a'));
    for (const trouble of TROUBLES) {
      stage.door.trouble = (path) => (path.includes('/sync/') ? trouble : null);
      const before = stage.door.asked.length;
      const position = await stage.write('b', trouble);
      await until(
        () => stage.door.asked.slice(before).filter((path) => path.includes('/sync/')).length,
        (count) => count > 3,
      );
      stage.door.trouble = () => null;
      await caughtUp(replica, position);
      expect(await valueOf(replica, 'b')).toBe(JSON.stringify(trouble));
    }
    expect(stage.copies).toBe(1);
    expect(lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it('is kept where the process that synchronizes begins while nothing can be fetched', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    stage.door.trouble = (path) => (/\/(?:info|sync\/.*)$/.test(path) ? 503 : null);
    const pid = replica.syncPid;
    if (pid !== null) process.kill(pid, 'SIGKILL');
    const position = await stage.write('b');
    const { detail } = await until(
      () => replica.status,
      (status) => status.detail !== null,
    );
    expect(detail).toBe("svc can't fetch new data: The gateway answered 503: Trouble.");
    stage.door.trouble = () => null;
    await caughtUp(replica, position);
    expect(stage.copies).toBe(1);
  });
});

describe('a copy that another process has', () => {
  it('is waited for, and not made anew', async () => {
    const first = stage.replica();
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    const lock = takeLock(new ReplicaFolder(stage.replicaFolder).lockPath);
    const { log, lines } = collectingLog();
    const second = stage.replica({ log });
    await until(
      () => lines.some(({ msg }) => msg === "replica: can't open the replica yet"),
      (isThere) => isThere,
    );
    expect(second.store).toBeNull();
    lock?.release();
    await caughtUp(second, await stage.write('b'));
    expect(await valueOf(second, 'b')).toBe('"b"');
    expect(stage.copies).toBe(1);
  });
});

describe('a copy that is cut short', () => {
  it('leaves nothing, and is begun anew', async () => {
    let cuts = 0;
    stage.door.trouble = (path) => {
      if (!path.includes('/export/') || cuts === 3) return null;
      cuts += 1;
      return 'cut';
    };
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    expect(cuts).toBe(3);
    expect(existsSync(`${stage.databasePath}.part`)).toBe(false);
  });
});
