import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { CrashPoint } from '../../shared/store/log/generations.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { startReplica, type Replica } from '../helpers/replica.ts';
import { buildLogProgram, LogProcess } from './log-process.ts';

const built = temporaryFolder();
let program = '';
beforeAll(() => {
  program = buildLogProgram(built.path);
});
afterAll(() => built.remove());

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let running: LogProcess[];
/** By the address that they follow. */
let replicas: Map<string, Replica>;
let strangers: Connection[];
let fresh = 0;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'test.db');
  running = [];
  replicas = new Map();
  strangers = [];
});
afterEach(async () => {
  await Promise.all([...replicas.values()].map((one) => one.end()));
  await Promise.all(running.map((one) => one.kill()));
  for (const one of strangers) one.close();
  folder.remove();
});

async function start(crashAt?: CrashPoint): Promise<LogProcess> {
  const started = await LogProcess.start(program, path, crashAt);
  if (!started) throw new Error('It died.');
  running.push(started);
  return started;
}

/** This test's replica, which continues from what it has, wherever the log is served now. */
async function syncFrom(log: LogProcess) {
  const { url } = await log.state();
  let replica = replicas.get(url);
  if (!replica) {
    for (const other of replicas.values()) await other.end();
    replica = startReplica(join(folder.path, 'replica.db'), url);
    replicas = new Map([[url, replica]]);
  }
  return replica.sync();
}

async function placeOf(log: LogProcess) {
  const { replication, fatal } = await log.state();
  expect(fatal).toEqual([]);
  return replication.log;
}

/** A replica that begins now, of whatever is served. */
async function firstSync(log: LogProcess) {
  const { url } = await log.state();
  fresh += 1;
  const replica = startReplica(join(folder.path, `fresh-${fresh}.db`), url);
  const content = await replica.sync();
  await replica.end();
  return content;
}

/** A log in generation 2 with announced frames, and a replica that has all of it. */
async function followed(): Promise<LogProcess> {
  const log = await start();
  await log.put(['a', 'b'], 5000);
  await log.follow();
  await log.put(['c', 'd'], 5000);
  expect(await syncFrom(log)).toEqual(await log.content());
  await log.rotate();
  await log.put(['e', 'f'], 5000);
  expect(await syncFrom(log)).toEqual(await log.content());
  expect(await placeOf(log)).toMatchObject({ generation: 2 });
  return log;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Opens the database again after a crash, and tries all there is to it. Where it stood after the first write. */
async function goneOn(names: readonly string[]) {
  const log = await start();
  await log.put(['then']);
  const place = await placeOf(log);
  await expectConvergence(log, [...names, 'then']);
  return place;
}

/** Nothing is lost, writes work, and an old and a new replica both match the database. */
async function expectConvergence(log: LogProcess, names: readonly string[]): Promise<void> {
  expect(await syncFrom(log)).toEqual(await log.content());
  expect(await firstSync(log)).toEqual(await log.content());
  await log.put(['after'], 20_000);
  expect(await syncFrom(log)).toEqual(await log.content());
  await log.rotate();
  await log.put(['last']);
  const content = await log.content();
  expect(content.integrity).toBe('ok');
  expect(content.rows.map(([name]) => name)).toEqual([...names, 'after', 'last'].toSorted());
  expect(await syncFrom(log)).toEqual(content);
}

/** Opens the database again when its history has ended, and begins another one. Its epoch. */
async function begunAnew() {
  const log = await start();
  expect(await placeOf(log)).toBeNull();
  expect(existsSync(generations())).toBe(false);
  const { log: place } = await log.follow();
  expect(place).toMatchObject({ generation: 1, frames: 0 });
  await log.put(['anew'], 5000);
  expect(await firstSync(log)).toEqual(await log.content());
  return place?.epoch;
}

function generations(): string {
  return join(folder.path, 'generations');
}

function stranger(): Connection {
  const connection = new Connection(path);
  strangers.push(connection);
  return connection;
}

/** Another connection that holds a snapshot of now until released. */
function readingStranger(): () => void {
  const connection = stranger();
  connection.exec('BEGIN');
  connection.get('SELECT count(*) AS n FROM item');
  return () => connection.exec('COMMIT');
}

const died = expect.objectContaining({ message: 'died' });

describe('a crash while the log is rotated', () => {
  const points: [CrashPoint, number][] = [
    ['rotate: log copied', 2],
    // The file may have some of it, so no replica can start from it.
    ['rotate: archive named', 3],
    ['rotate: log emptied', 3],
    ['state written', 3],
  ];

  it.each(points)('(%s) leaves generation %i, and replicas go on', async (point, generation) => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.put(['g', 'h'], 5000);
    await log.crashAt(point);
    await expect(log.rotate()).rejects.toEqual(died);
    expect(await goneOn([...NAMES, 'g', 'h'])).toMatchObject({ epoch, generation });
  });

  it.each(points)('at the end (%s) leaves generation %i', async (point, generation) => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.crashAt(point);
    await expect(log.close()).rejects.toEqual(died);
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation });
  });

  it.each(points)('(%s) may be followed by one in the next rotation', async (point) => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.crashAt(point);
    await expect(log.rotate()).rejects.toEqual(died);
    const again = await start();
    await again.put(['g'], 5000);
    const generation = (await placeOf(again))?.generation ?? 0;
    await again.crashAt('rotate: log emptied');
    await expect(again.rotate()).rejects.toEqual(died);
    expect(await goneOn([...NAMES, 'g'])).toMatchObject({ epoch, generation: generation + 1 });
  });
});

describe('a crash at the first commit of a generation', () => {
  it.each<CrashPoint>(['commit: not recorded', 'state written'])(
    '(%s) loses nothing, and replicas go on',
    async (point) => {
      const log = await followed();
      const epoch = (await placeOf(log))?.epoch;
      await log.rotate();
      await log.crashAt(point);
      await expect(log.put(['g'], 5000)).rejects.toEqual(died);
      expect(await goneOn([...NAMES, 'g'])).toMatchObject({ epoch, generation: 3 });
    },
  );

  it('of the next one that opens the database loses nothing either', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.rotate();
    await log.crashAt('commit: not recorded');
    await expect(log.put(['g'], 5000)).rejects.toEqual(died);
    expect(await LogProcess.start(program, path, 'commit: not recorded')).toBeNull();
    expect(await goneOn([...NAMES, 'g'])).toMatchObject({ epoch, generation: 3 });
  });
});

describe('a crash when nothing happens', () => {
  it('leaves the generation, with frames and without', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.kill();
    const again = await start();
    expect(await placeOf(again)).toMatchObject({ epoch, generation: 2 });
    await again.rotate();
    await again.kill();
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 3 });
  });

  it('while a large transaction is written leaves what was committed', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    // More than any machine writes in that time.
    const undone = log.undo(512 * 1024 * 1024).catch((error: unknown) => error);
    // Its pages are in the log by now, or are not: neither may matter.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await log.kill();
    expect(await undone).toEqual(died);
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 2 });
  });
});

describe('a crash while somebody begins to follow', () => {
  it.each<[CrashPoint, boolean]>([
    ['follow: log emptied', false],
    ['follow: state written', true],
  ])('(%s) leaves a history: %s', async (point, isKept) => {
    const log = await start();
    await log.put(['a', 'b'], 5000);
    await log.crashAt(point);
    await expect(log.follow()).rejects.toEqual(died);
    const again = await start();
    const place = await placeOf(again);
    expect(place !== null).toBe(isKept);
    expect(existsSync(generations())).toBe(isKept);
    await again.follow();
    await expectConvergence(again, ['a', 'b']);
  });
});

describe('a crash after the file was copied', () => {
  it('leaves no copy that is taken for a whole one', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.crashAt('base copied');
    await expect(log.copyBase()).rejects.toEqual(died);
    const again = await start();
    expect(readdirSync(generations()).filter((name) => name.includes('.db'))).toEqual([]);
    await again.kill();
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 2 });
  });
});

/** Dies when the log restarts in place, which happens once the reader has left. Returns the epoch. */
async function dieInPlace(point: CrashPoint) {
  const log = await followed();
  const epoch = (await placeOf(log))?.epoch;
  const leave = readingStranger();
  await log.rotate();
  expect(await placeOf(log)).toMatchObject({ generation: 2 });
  leave();
  await log.crashAt(point);
  await expect(log.put(['g'], 5000)).rejects.toEqual(died);
  return epoch;
}

describe('a crash while somebody else reads the file', () => {
  it.each<CrashPoint>(['rotate: log kept', 'state written', 'rotate: log set aside'])(
    '(%s) leaves the generation, also while he goes on',
    async (point) => {
      const log = await followed();
      const epoch = (await placeOf(log))?.epoch;
      const leave = readingStranger();
      await log.crashAt(point);
      await expect(log.rotate()).rejects.toEqual(died);
      const again = await start();
      expect(await placeOf(again)).toMatchObject({ epoch, generation: 2 });
      await again.put(['g'], 5000);
      expect(await syncFrom(again)).toEqual(await again.content());
      // No replica can start from the file's present state.
      await expect(again.copyBase()).rejects.toThrow(/can't take this right now/);
      leave();
      await again.kill();
      expect(await goneOn([...NAMES, 'g'])).toMatchObject({ epoch, generation: 3 });
    },
  );

  it('leaves the generation to be rotated before it can be begun anew in place', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    const leave = readingStranger();
    await log.rotate();
    await log.kill();
    // The reader keeps the log's index alive, which says that everything is checkpointed.
    leave();
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 3 });
  });

  it.each<CrashPoint>(['commit: archive named', 'state written'])(
    '(%s) leaves the next generation, begun in place when he had left',
    async (point) => {
      const epoch = await dieInPlace(point);
      expect(await goneOn([...NAMES, 'g'])).toMatchObject({ epoch, generation: 3 });
    },
  );

  it('(commit: log begun in place) leaves what cannot be explained', async () => {
    const epoch = await dieInPlace('commit: log begun in place');
    expect(await begunAnew()).not.toBe(epoch);
  });
});

describe('what somebody else did while nobody ran', () => {
  it.each<[string, (other: Connection) => void]>([
    ['folded the log in', (other) => other.exec('PRAGMA wal_checkpoint(TRUNCATE)')],
    [
      'folded the log in and wrote',
      (other) => {
        other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        other.exec("INSERT INTO item VALUES ('his', 'own')");
      },
    ],
  ])('%s: another history begins after a crash', async (_what, act) => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.kill();
    act(stranger());
    expect(await begunAnew()).not.toBe(epoch);
  });

  it('wrote to the file: another history begins, though the log had been closed', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.close();
    const other = stranger();
    other.exec("INSERT INTO item VALUES ('his', 'own')");
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(await begunAnew()).not.toBe(epoch);
  });

  it('wrote to the log: that is part of the generation', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.kill();
    stranger().exec("INSERT INTO item VALUES ('his', 'own')");
    expect(await goneOn([...NAMES, 'his'])).toMatchObject({ epoch, generation: 2 });
  });

  it.each(['', '{', '[]', '{"epoch":"short","generation":1}'])(
    'left %j for a state: another history begins',
    async (text) => {
      const log = await followed();
      const epoch = (await placeOf(log))?.epoch;
      await log.kill();
      writeFileSync(join(generations(), 'state.json'), text);
      expect(await begunAnew()).not.toBe(epoch);
    },
  );
});

describe('a clean end', () => {
  it('leaves the next generation with nothing in its log, and replicas go on', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    await log.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    for (let round = 0; round < 2; round += 1) {
      const idle = await start();
      expect(await placeOf(idle)).toEqual({ epoch, generation: 3, frames: 0, salts: null });
      await idle.close();
    }
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 3 });
  });

  it('while somebody else reads the file leaves the generation', async () => {
    const log = await followed();
    const epoch = (await placeOf(log))?.epoch;
    const leave = readingStranger();
    await log.close();
    leave();
    expect(await goneOn(NAMES)).toMatchObject({ epoch, generation: 3 });
  });
});
