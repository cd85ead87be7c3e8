import { closeSync, fstat, open } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '../../shared/clock.ts';
import { ServiceError, unavailable } from '../../shared/errors.ts';
import type { LogPlace } from '../../shared/store/driver.ts';
import { isMissing } from '../blobs/blob-store.ts';
import type { Project } from '../project.ts';
import { FRAME_BYTES, readArchived, readLive, type FrameRange } from './log-file.ts';
import { RecentFrames } from './recent-frames.ts';

/** How often a project's log is told that it is still followed. */
const FOLLOW_MS = 3_600_000;
/** What one answer carries at most; the client asks for half of it. */
const FRAMES_MAX = 256;
/** Bytes of frames on their way to the clients of one project, who may be slow to take them. */
const SENDING_MAX_BYTES = 32 * 1024 * 1024;
/** Copies of the file on their way to the clients of one project. Each holds a file open for as long as it is taken. */
const COPIES_MAX = 64;
/** Of frames that were read lately, for the next replica that asks for them. */
const RECENT_MAX_BYTES = 16 * 1024 * 1024;
/** The log is begun anew within this time, though the news of it may come a little later. */
const LOOKS = 6;
const FIRST_PAUSE_MS = 2;

/** Frames that a replica asks for: of a generation in a history of the log. */
export interface WantedFrames extends FrameRange {
  readonly epoch: string;
  readonly generation: number;
}

/** What there is of them. */
export type FoundFrames =
  | { readonly frames: Buffer; readonly release: () => void }
  /** None yet; and the generation that is being written. */
  | { readonly newest: number };

/** A file to be sent. Whoever gets it closes it, and calls `release` when it is sent. */
export interface OpenCopy {
  readonly file: number;
  readonly sizeBytes: number;
  readonly release: () => void;
}

interface Following {
  /** When the log was last told. */
  toldAt: number;
  telling: Promise<void> | null;
  sendingBytes: number;
  copies: number;
}

const openFile = promisify(open);
const statFile = promisify(fstat);

/** What replicas are made of: the copy of the file that a generation of the log begins with, and the frames of the log. */
export class ReplicaSource {
  readonly #clock: Clock;
  readonly #following = new WeakMap<Project, Following>();
  readonly #recent = new RecentFrames(RECENT_MAX_BYTES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Where the log stands, which is kept from here on. UNAVAILABLE while that cannot be told. */
  async place(project: Project): Promise<LogPlace> {
    const following = this.#of(project);
    const sinceMs = Math.abs(this.#clock.now() - following.toldAt);
    if (!project.standing.log) await this.#tell(project, following);
    else if (sinceMs >= FOLLOW_MS && !following.telling) {
      project.inBackground(() => this.#tell(project, following));
    }
    const { log } = project.standing;
    if (!log) throw unavailable(1);
    return log;
  }

  /** The generation that is being written. NOT_FOUND in another history. */
  async generation(project: Project, epoch: string): Promise<number> {
    const log = await this.place(project);
    if (log.epoch !== epoch) throw elsewhere();
    return log.generation;
  }

  /**
   * The file as it stood when the generation began. NOT_FOUND for another than that at hand, unless it is still there.
   * UNAVAILABLE while many others are being sent.
   */
  async copy(project: Project, epoch: string, generation: number): Promise<OpenCopy> {
    const following = this.#of(project);
    if (following.copies >= COPIES_MAX) throw unavailable(5);
    following.copies += 1;
    const release = (): void => {
      following.copies -= 1;
    };
    try {
      const path = await this.#pathOfCopy(project, epoch, generation);
      return { ...(await openCopy(path)), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #pathOfCopy(project: Project, epoch: string, generation: number): Promise<string> {
    const newest = await this.generation(project, epoch);
    if (generation > newest) throw elsewhere();
    const kept = join(generationsOf(project), `${generation}.db`);
    if (generation < newest) return kept;
    const copy = await project.writes.copyBase();
    const isIt = copy.epoch === epoch && copy.generation === generation;
    return isIt ? copy.path : kept;
  }

  /**
   * Frames from the first wanted one on, at least one of them. Whoever gets them calls `release` when they are sent.
   * NOT_FOUND for a replica of another history, or one that was away for too long: it has to be copied anew.
   */
  async frames(project: Project, wanted: WantedFrames): Promise<FoundFrames> {
    const log = await this.place(project);
    // Most ask for far more than the few that there are. What comes meanwhile can wait.
    const isNewest = log.epoch === wanted.epoch && log.generation === wanted.generation;
    const end = isNewest ? log.frames + 1 : wanted.to;
    const last = Math.min(wanted.to, wanted.from + FRAMES_MAX, end);
    const to = Math.max(last, wanted.from + 1);
    const release = this.#take(project, (to - wanted.from) * FRAME_BYTES);
    const place = [wanted.epoch, wanted.generation, wanted.from, to].join(' ');
    const known = isNewest && this.#recent.get(place);
    if (known) return { frames: known, release };
    try {
      const found = await this.#look(project, { ...wanted, to });
      if (Buffer.isBuffer(found)) {
        if (found.length === (to - wanted.from) * FRAME_BYTES) this.#recent.set(place, found);
        return { frames: found, release };
      }
      release();
      return { newest: found };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The frames, or the generation that is being written when there are no more. */
  async #look(project: Project, wanted: WantedFrames): Promise<Buffer | number> {
    for (let look = 0; look < LOOKS; look += 1) {
      const log = await this.place(project);
      const { generation } = wanted;
      if (log.epoch !== wanted.epoch || generation > log.generation) throw elsewhere();
      if (generation === log.generation) {
        const live = await findLive(project, wanted, log);
        if (live !== null) return live;
      }
      const archive = join(generationsOf(project), `${generation}.wal`);
      const archived = await readArchived(archive, wanted);
      // Another history would have other archives under the same names.
      if (project.standing.log?.epoch !== wanted.epoch) throw elsewhere();
      if (archived && archived.length > 0) return archived;
      if (generation < log.generation) {
        if (archived === null) throw elsewhere();
        return log.generation;
      }
      // It was begun anew under our eyes: the news of that is on its way.
      await sleep(FIRST_PAUSE_MS * 2 ** look);
    }
    throw unavailable(1);
  }

  /** One at a time. */
  #tell(project: Project, following: Following): Promise<void> {
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

  #take(project: Project, sizeBytes: number): () => void {
    const following = this.#of(project);
    if (following.sendingBytes + sizeBytes > SENDING_MAX_BYTES) throw unavailable(1);
    following.sendingBytes += sizeBytes;
    return () => {
      following.sendingBytes -= sizeBytes;
    };
  }

  #of(project: Project): Following {
    let following = this.#following.get(project);
    if (!following) {
      following = { toldAt: -Infinity, telling: null, sendingBytes: 0, copies: 0 };
      this.#following.set(project, following);
    }
    return following;
  }
}

/** Null when the log was begun anew since it was said to stand there. */
async function findLive(
  project: Project,
  { from, to }: FrameRange,
  log: LogPlace,
): Promise<Buffer | number | null> {
  const end = log.frames + 1;
  if (from > end) throw elsewhere();
  if (from === end) return log.generation;
  if (log.salts === null) return null;
  return readLive(`${project.databasePath}-wal`, { from, to: Math.min(to, end) }, log.salts);
}

async function openCopy(path: string): Promise<Omit<OpenCopy, 'release'>> {
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

function generationsOf(project: Project): string {
  return join(project.databasePath, '..', 'generations');
}

function elsewhere(): ServiceError {
  return new ServiceError('NOT_FOUND', {
    hint: 'The log has no such place. Ask GET /v1/replica, and copy the project anew.',
  });
}
