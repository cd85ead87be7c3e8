import { closeSync, fstat, open } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '../../shared/lib/clock.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import { DamageError, type DamageRegister } from '../../shared/store/sums/damage.ts';
import type { LogPosition } from '../../shared/store/engine/driver.ts';
import { isMissing } from '../blobs/blob-store.ts';
import { FileBody } from '../lib/file-body.ts';
import type { Project } from '../projects/project.ts';
import { archiveFolder } from '../../shared/store/log/log-archive.ts';
import { FRAME_BYTES } from '../../shared/store/log/wal-layout.ts';
import { BrokenFrames, readArchived, readLive, type FrameRange } from './log-file.ts';
import { RecentFrames } from './recent-frames.ts';
import { Outgoing } from './outgoing.ts';
import {
  elsewhere,
  FRAMES_MAX,
  type Copy,
  type FoundFrames,
  type ReplicaSource,
  type SourcePosition,
  type WantedFrames,
} from './source.ts';

/** How often we renew the request to keep a project's log. */
const FOLLOW_MS = 3_600_000;
/** How many bytes of recent frames we keep for the next replica that asks for them. */
const RECENT_MAX_BYTES = 16 * 1024 * 1024;
/** How often to look for a restarted log, whose notification may arrive a little late. */
const LOOKS = 6;
const FIRST_PAUSE_MS = 2;

/** An open file to send. Call `send`, or close the file and call `release`. */
export interface OpenCopy extends Copy {
  readonly file: number;
  readonly release: () => void;
}

interface Following {
  /** When we last renewed the request. */
  toldAt: number;
  telling: Promise<void> | null;
}

const openFile = promisify(open);
const statFile = promisify(fstat);

/** The replica source for a database file on this machine: its write-ahead log. */
export class LogSource implements ReplicaSource {
  readonly #outgoing = new Outgoing();
  readonly #clock: Clock;
  readonly #damage: DamageRegister;
  readonly #following = new WeakMap<Project, Following>();
  readonly #recent = new RecentFrames(RECENT_MAX_BYTES);

  constructor(clock: Clock, damage: DamageRegister) {
    this.#clock = clock;
    this.#damage = damage;
  }

  async position(project: Project): Promise<SourcePosition> {
    const { epoch, generation } = await this.#position(project);
    return { epoch, generation, position: project.position };
  }

  async #position(project: Project): Promise<LogPosition> {
    const following = this.#of(project);
    const sinceMs = Math.abs(this.#clock.now() - following.toldAt);
    if (!project.replication.log) await this.#announce(project, following);
    else if (sinceMs >= FOLLOW_MS && !following.telling) {
      project.inBackground(() => this.#announce(project, following));
    }
    const { log } = project.replication;
    if (!log) throw unavailable(1);
    return log;
  }

  async generation(project: Project, epoch: string): Promise<number> {
    const log = await this.#position(project);
    if (log.epoch !== epoch) throw elsewhere();
    return log.generation;
  }

  async copy(project: Project, epoch: string, generation: number): Promise<OpenCopy> {
    return this.#outgoing.copy(project, async (release) => {
      const path = await this.#pathOfCopy(project, epoch, generation);
      const { file, sizeBytes } = await openCopy(path);
      const body = (): FileBody => new FileBody(file, { start: 0, sizeBytes }, release);
      return { file, sizeBytes, release, send: (...to) => body().send(...to) };
    });
  }

  async #pathOfCopy(project: Project, epoch: string, generation: number): Promise<string> {
    const newest = await this.generation(project, epoch);
    if (generation > newest) throw elsewhere();
    const kept = join(archiveFolder(project.databasePath), `${generation}.db`);
    if (generation < newest) return kept;
    const copy = await project.writes.copyBase();
    const isIt = copy.epoch === epoch && copy.generation === generation;
    return isIt ? copy.path : kept;
  }

  async frames(project: Project, wanted: WantedFrames): Promise<FoundFrames> {
    const log = await this.#position(project);
    // Most replicas ask for far more frames than there are; later ones can wait.
    const isNewest = log.epoch === wanted.epoch && log.generation === wanted.generation;
    const end = isNewest ? log.frames + 1 : wanted.to;
    const last = Math.min(wanted.to, wanted.from + FRAMES_MAX, end);
    const to = Math.max(last, wanted.from + 1);
    const release = this.#outgoing.frames(project, (to - wanted.from) * FRAME_BYTES);
    const position = [wanted.epoch, wanted.generation, wanted.from, to].join(' ');
    const known = isNewest && this.#recent.get(position);
    if (known) return { frames: known, release };
    try {
      const found = await this.#findFrames(project, { ...wanted, to });
      if (Buffer.isBuffer(found)) {
        if (found.length === (to - wanted.from) * FRAME_BYTES) this.#recent.set(position, found);
        return { frames: found, release };
      }
      release();
      return { newest: found };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Returns the frames, or the current generation if there are no more. */
  async #findFrames(project: Project, wanted: WantedFrames): Promise<Buffer | number> {
    for (let look = 0; look < LOOKS; look += 1) {
      const log = await this.#position(project);
      const { generation } = wanted;
      if (log.epoch !== wanted.epoch || generation > log.generation) throw elsewhere();
      if (generation === log.generation) {
        const live = await this.#live(project, wanted, log);
        if (live !== null) return live;
      }
      const archive = join(archiveFolder(project.databasePath), `${generation}.wal`);
      const archived = await readArchived(archive, wanted);
      // The archives of another history have the same names.
      if (project.replication.log?.epoch !== wanted.epoch) throw elsewhere();
      if (archived && archived.length > 0) return archived;
      if (generation < log.generation) {
        if (archived === null) throw elsewhere();
        return log.generation;
      }
      // The log restarted while we read it; the notification is on its way.
      await sleep(FIRST_PAUSE_MS * 2 ** look);
    }
    throw unavailable(1);
  }

  async #live(project: Project, wanted: FrameRange, log: LogPosition) {
    try {
      return await findLive(project, wanted, log);
    } catch (error) {
      if (!(error instanceof BrokenFrames)) throw error;
      const file = this.#damage.nameOf(logOf(project));
      const report = { project: project.info.id, file, what: `frames from ${error.from}` };
      this.#damage.report(report);
      throw new DamageError(report);
    }
  }

  /** Runs one renewal at a time. */
  #announce(project: Project, following: Following): Promise<void> {
    following.telling ??= this.#follow(project, following);
    return following.telling;
  }

  async #follow(project: Project, following: Following): Promise<void> {
    const now = this.#clock.now();
    try {
      await project.writes.follow();
      following.toldAt = now;
    } finally {
      following.telling = null;
    }
  }

  #of(project: Project): Following {
    let following = this.#following.get(project);
    if (!following) {
      following = { toldAt: -Infinity, telling: null };
      this.#following.set(project, following);
    }
    return following;
  }
}

/** Null if the log has restarted since the given position was read. */
async function findLive(
  project: Project,
  { from, to }: FrameRange,
  log: LogPosition,
): Promise<Buffer | number | null> {
  const end = log.frames + 1;
  if (from > end) throw elsewhere();
  if (from === end) return log.generation;
  if (log.salts === null) return null;
  return readLive(logOf(project), { from, to: Math.min(to, end) }, log.salts);
}

async function openCopy(path: string): Promise<Pick<OpenCopy, 'file' | 'sizeBytes'>> {
  const file = await openFile(path, 'r').catch((error: unknown) => {
    throw isMissing(error) ? elsewhere() : error;
  });
  try {
    return { file, sizeBytes: (await statFile(file)).size };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function logOf(project: Project): string {
  return `${project.databasePath}-wal`;
}
