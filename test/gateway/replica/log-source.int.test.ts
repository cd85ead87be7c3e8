import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import { hash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../gateway/projects/project.ts';
import { LogSource, type OpenCopy } from '../../../gateway/replica/log-source.ts';
import { unavailable } from '../../../shared/lib/errors.ts';
import type { LogPosition, ReplicationPosition } from '../../../shared/store/engine/driver.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';

const FRAME = 24 + 4096;
const PRAGMAS = ['page_size=4096', 'journal_mode=WAL', 'wal_autocheckpoint=0', 'synchronous=0'];
const HOUR_MS = 3_600_000;
const NOT_FOUND = { code: 'NOT_FOUND' };
const UNAVAILABLE = { code: 'UNAVAILABLE' };

/** The files of a project with a log of their own, and a gateway's knowledge of them that may be out of date. */
class Stage {
  readonly folder = temporaryFolder();
  readonly databasePath = join(this.folder.path, 'project.db');
  readonly log = `${this.databasePath}-wal`;
  readonly generations = join(this.folder.path, 'generations');
  readonly #database = new Libsql(this.databasePath);
  readonly background: Promise<void>[] = [];
  replication: ReplicationPosition = { position: 0, log: null };
  follows = 0;
  copies = 0;
  /** What following does. */
  onFollow: () => Promise<void> = async () => this.tell();
  epoch = 'one';
  generation = 1;

  constructor() {
    mkdirSync(this.generations);
    for (const pragma of PRAGMAS) this.#database.prepare(`PRAGMA ${pragma}`).get([]);
    this.#database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)');
  }

  /** As far as the source is concerned it is one. */
  get project(): Project {
    return this as unknown as Project;
  }

  readonly writes = {
    follow: async (): Promise<ReplicationPosition> => {
      this.follows += 1;
      await this.onFollow();
      return this.replication;
    },
    copyBase: async () => {
      this.copies += 1;
      const path = this.baseOf(this.generation);
      copyFileSync(this.databasePath, path);
      return { epoch: this.epoch, generation: this.generation, path, sizeBytes: 1 };
    },
  };

  inBackground(work: () => Promise<void>): void {
    this.background.push(work());
  }

  write(bytes = 10): void {
    this.#database.prepare('INSERT INTO t (body) VALUES (?)').run(['x'.repeat(bytes)]);
  }

  /** What the writer says of the log, which may come later than it happens. */
  tell(): void {
    const { epoch, generation } = this;
    const bytes = readFileSync(this.log);
    const count = Math.max(0, (bytes.length - 32) / FRAME);
    const salts = count > 0 ? bytes.toString('hex', 16, 24) : null;
    this.replication = {
      position: this.replication.position + 1,
      log: { epoch, generation, frames: count, salts },
    };
  }

  /** Begins a generation as the writer does. */
  rotate(kind = 'TRUNCATE'): void {
    copyFileSync(this.log, this.archiveOf(this.generation));
    this.#database.prepare(`PRAGMA wal_checkpoint(${kind})`).get([]);
    this.generation += 1;
  }

  archiveOf(generation: number): string {
    return join(this.generations, `${generation}.wal`);
  }

  baseOf(generation: number): string {
    return join(this.generations, `${generation}.db`);
  }

  get place(): LogPosition {
    if (!this.replication.log) throw new Error('It does not stand anywhere.');
    return this.replication.log;
  }

  close(): void {
    this.#database.close();
    this.folder.remove();
  }
}

let stage: Stage;
let clock: FakeClock;
let source: LogSource;

beforeEach(() => {
  stage = new Stage();
  clock = new FakeClock();
  source = new LogSource(clock, new DamageRegister(stage.folder.path));
});
afterEach(() => stage.close());

/** What came of it, in short: to compare a megabyte byte by byte takes its time. */
type Came = { readonly newest: number } | { readonly count: number; readonly digest: string };

async function frames(from: number, to: number, generation = 1, epoch = 'one'): Promise<Came> {
  const found = await source.frames(stage.project, { epoch, generation, from, to });
  if ('newest' in found) return found;
  found.release();
  return inShort(found.frames);
}

/** Frames as the archive of a generation has them, or the log. */
function expected(path: string, from: number, to: number): Came {
  return inShort(readFileSync(path).subarray(32 + (from - 1) * FRAME, 32 + (to - 1) * FRAME));
}

function inShort(bytes: Buffer): Came {
  return { count: bytes.length / FRAME, digest: hash('sha256', bytes) };
}

describe('following', () => {
  it('begins with the first who asks, and is told again after an hour', async () => {
    stage.write();
    await Promise.all([source.position(stage.project), source.position(stage.project)]);
    expect(stage.follows).toBe(1);
    clock.advance(HOUR_MS - 1);
    await frames(1, 2);
    expect(stage.follows).toBe(1);
    clock.advance(1);
    await frames(1, 2);
    await Promise.all(stage.background);
    expect(stage.follows).toBe(2);
    await frames(1, 2);
    expect(stage.follows).toBe(2);
    // A clock that was set back an hour.
    clock.advance(-2 * HOUR_MS);
    await frames(1, 2);
    await Promise.all(stage.background);
    expect(stage.follows).toBe(3);
  });

  it('keeps nobody waiting while it is told again', async () => {
    stage.write();
    stage.tell();
    stage.onFollow = () => new Promise(() => undefined);
    expect(await frames(1, 2)).toEqual(expected(stage.log, 1, 2));
    await frames(1, 2);
    expect(stage.follows).toBe(1);
  });

  it('is tried again by the next after it failed', async () => {
    stage.onFollow = () => Promise.reject(unavailable(1));
    await expect(source.position(stage.project)).rejects.toMatchObject(UNAVAILABLE);
    stage.onFollow = async () => undefined;
    await expect(source.position(stage.project)).rejects.toMatchObject(UNAVAILABLE);
    stage.onFollow = async () => stage.tell();
    expect(await source.generation(stage.project, 'one')).toBe(1);
    expect(stage.follows).toBe(3);
  });
});

describe('frames', () => {
  beforeEach(async () => {
    stage.write(50_000);
    await source.position(stage.project);
  });

  it('come from the log at hand, up to what is committed', async () => {
    const end = stage.place.frames + 1;
    expect(await frames(1, end)).toEqual(expected(stage.log, 1, end));
    expect(await frames(2, 4)).toEqual(expected(stage.log, 2, 4));
    expect(await frames(3, 4_294_967_295)).toEqual(expected(stage.log, 3, end));
    // In the file, but the writer has not said so.
    stage.write();
    expect(await frames(3, 4_294_967_295)).toEqual(expected(stage.log, 3, end));
    expect(await frames(end, end + 1)).toEqual({ newest: 1 });
    stage.tell();
    expect(await frames(end, end + 9)).toEqual(expected(stage.log, end, stage.place.frames + 1));
  });

  it('come in portions', async () => {
    for (let n = 0; n < 150; n += 1) stage.write(5000);
    stage.tell();
    expect(stage.place.frames).toBeGreaterThan(260);
    expect(await frames(3, 9999)).toEqual(expected(stage.log, 3, 259));
  });

  it.each(['TRUNCATE', 'RESTART'])(
    'come from the archive when the log was begun anew by %s meanwhile',
    async (kind) => {
      const { frames: count } = stage.place;
      stage.rotate(kind);
      expect(await frames(1, 3)).toEqual(expected(stage.archiveOf(1), 1, 3));
      stage.write(20_000);
      expect(await frames(2, count + 1)).toEqual(expected(stage.archiveOf(1), 2, count + 1));
      // The writer has not said it yet: the client comes again.
      expect(await frames(count + 1, count + 2)).toEqual({ newest: 1 });
      stage.tell();
      expect(await frames(1, 3)).toEqual(expected(stage.archiveOf(1), 1, 3));
      expect(await frames(count, count + 9)).toEqual(
        expected(stage.archiveOf(1), count, count + 1),
      );
      expect(await frames(count + 1, count + 2)).toEqual({ newest: 2 });
      expect(await frames(1, 2, 2)).toEqual(expected(stage.log, 1, 2));
    },
  );

  it('come as soon as the news of a new generation have', async () => {
    const { frames: count } = stage.place;
    stage.rotate();
    stage.write();
    const archive = readFileSync(stage.archiveOf(1));
    rmSync(stage.archiveOf(1));
    const asked = frames(1, count + 1);
    setTimeout(() => {
      writeFileSync(stage.archiveOf(1), archive);
      stage.tell();
    }, 5);
    await asked;
    expect(await asked).toEqual(expected(stage.archiveOf(1), 1, count + 1));
  });

  it('are unavailable while nobody knows where they went', async () => {
    stage.rotate();
    rmSync(stage.archiveOf(1));
    await expect(frames(1, 2)).rejects.toMatchObject(UNAVAILABLE);
    stage.tell();
    await expect(frames(1, 2)).rejects.toMatchObject(NOT_FOUND);
  });

  it('are nowhere in another history, in a generation to come, or beyond what there is', async () => {
    const end = stage.place.frames + 1;
    await expect(frames(1, 2, 1, 'two')).rejects.toMatchObject(NOT_FOUND);
    await expect(frames(1, 2, 2)).rejects.toMatchObject(NOT_FOUND);
    await expect(frames(end + 1, end + 2)).rejects.toMatchObject(NOT_FOUND);
    stage.rotate();
    stage.write();
    stage.tell();
    await expect(frames(end + 1, end + 2, 1)).rejects.toMatchObject(NOT_FOUND);
    stage.epoch = 'two';
    stage.tell();
    await expect(frames(1, 2, 1)).rejects.toMatchObject(NOT_FOUND);
  });

  it('are held back while too many of them are on their way', async () => {
    for (let n = 0; n < 150; n += 1) stage.write(5000);
    stage.tell();
    const wanted = { epoch: 'one', generation: 1, from: 1, to: 257 };
    const onTheirWay: (() => void)[] = [];
    for (let n = 0; n < 31; n += 1) {
      const found = await source.frames(stage.project, wanted);
      if ('release' in found) onTheirWay.push(found.release);
    }
    expect(onTheirWay).toHaveLength(31);
    await expect(source.frames(stage.project, wanted)).rejects.toMatchObject(UNAVAILABLE);
    // Those who want a few get them, however many they ask for.
    const { frames: count } = stage.place;
    for (let n = 0; n < 99; n += 1) await frames(count, count + 128);
    onTheirWay.pop()?.();
    await frames(1, 257);
    // What was refused or found nothing holds nothing.
    for (let n = 0; n < 40; n += 1) {
      await expect(frames(1, 257, 9)).rejects.toMatchObject(NOT_FOUND);
      await frames(count + 1, count + 257);
    }
    await frames(1, 257);
  });
});

/** The first bytes of it, which is closed. */
function opened({ file, sizeBytes, release }: OpenCopy): { head: string; sizeBytes: number } {
  const head = Buffer.alloc(15);
  readSync(file, head, 0, 15, 0);
  closeSync(file);
  release();
  return { head: head.toString(), sizeBytes };
}

describe('the copy that a generation begins with', () => {
  it('is that of the generation at hand, and of one before while it is there', async () => {
    stage.write();
    stage.rotate();
    stage.tell();
    const second = opened(await source.copy(stage.project, 'one', 2));
    const { length } = readFileSync(stage.databasePath);
    expect(second).toEqual({ head: 'SQLite format 3', sizeBytes: length });
    stage.write(100_000);
    stage.rotate();
    stage.tell();
    expect(opened(await source.copy(stage.project, 'one', 2)).sizeBytes).toBe(length);
    expect(opened(await source.copy(stage.project, 'one', 3)).sizeBytes).toBeGreaterThan(length);
    expect(stage.copies).toBe(2);
  });

  it('is nowhere otherwise', async () => {
    stage.write();
    stage.rotate();
    stage.tell();
    await expect(source.copy(stage.project, 'one', 1)).rejects.toMatchObject(NOT_FOUND);
    await expect(source.copy(stage.project, 'one', 3)).rejects.toMatchObject(NOT_FOUND);
    await expect(source.copy(stage.project, 'two', 2)).rejects.toMatchObject(NOT_FOUND);
    // A generation began between the question and the copy.
    stage.generation = 3;
    await expect(source.copy(stage.project, 'one', 2)).rejects.toMatchObject(NOT_FOUND);
  });

  it("is sent to so many at a time, and what was refused takes nobody's place", async () => {
    stage.write();
    stage.rotate();
    stage.tell();
    for (let n = 0; n < 70; n += 1) {
      await expect(source.copy(stage.project, 'two', 2)).rejects.toMatchObject(NOT_FOUND);
    }
    const taken: OpenCopy[] = [];
    for (let n = 0; n < 64; n += 1) taken.push(await source.copy(stage.project, 'one', 2));
    await expect(source.copy(stage.project, 'one', 2)).rejects.toMatchObject(UNAVAILABLE);
    for (const one of taken) opened(one);
    expect(opened(await source.copy(stage.project, 'one', 2)).sizeBytes).toBeGreaterThan(0);
  });
});
