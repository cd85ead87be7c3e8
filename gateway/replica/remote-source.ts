import type { Clock } from '../../shared/lib/clock.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import type { Databases } from '../projects/databases.ts';
import type { Project } from '../projects/project.ts';
import { endHistory, epochOf, historyOf, type RemoteHistory } from './history.ts';
import type { FrameRange } from './log-file.ts';
import { RemotePrimary, type PrimaryFrames } from './remote-primary.ts';
import { Outgoing } from './outgoing.ts';
import {
  elsewhere,
  FRAMES_MAX,
  noReplicas,
  type Copy,
  type FoundFrames,
  type ReplicaSource,
  type SourcePosition,
  type WantedFrames,
} from './source.ts';

/** How long we don't ask a server again that offers no replicas. */
const NONE_MS = 300_000;
/** How old a known history may be when we serve frames, unless there was a commit since. */
const HISTORY_MS = 1000;
/** How many frame requests may run for one project. */
const ASKS_MAX = 64;

interface Following {
  readonly primary: RemotePrimary;
  /** When the server last said that it offers no replicas. */
  noneAt: number;
  /** The running request for the generation. */
  asking: Promise<number> | null;
  /** The newest generation we saw, and its history. */
  seen: { readonly history: string; readonly generation: number } | null;
  known: { readonly epoch: string; readonly position: number; readonly at: number } | null;
  /** The epoch being read, and the newest commit we knew at that time. */
  reading: { readonly position: number; readonly epoch: Promise<string> } | null;
  /** Running frame requests, by the wanted frames and the newest commit known at their start. */
  readonly asks: Map<string, Promise<PrimaryFrames>>;
}

/**
 * The replica source for databases on a libSQL server that serves the sync protocol: it passes the server's answers on. The
 * server numbers generations but doesn't know histories, so the database keeps those.
 */
export class RemoteSource implements ReplicaSource {
  readonly #outgoing = new Outgoing();
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #following = new WeakMap<Project, Following>();

  constructor(databases: Databases, clock: Clock) {
    this.#databases = databases;
    this.#clock = clock;
  }

  async place(project: Project): Promise<SourcePosition> {
    const following = this.#of(project);
    let generation = await this.#generation(following);
    // Each caller reads it, so the answer includes every commit that the caller knows.
    let history = await historyOf(project);
    if (isBefore(generation, history, following)) {
      generation = await this.#generation(following);
      if (isBefore(generation, history, following)) {
        await endHistory(project, history.name);
        history = await historyOf(project);
      }
    }
    following.seen = { history: history.name, generation };
    const epoch = epochOf(following.primary.address, history);
    const place = { epoch, generation, position: history.position };
    project.primaryStands(place);
    return place;
  }

  async generation(project: Project, epoch: string): Promise<number> {
    const place = await this.place(project);
    if (place.epoch !== epoch) throw elsewhere();
    return place.generation;
  }

  async copy(project: Project, epoch: string, generation: number): Promise<Copy> {
    return this.#outgoing.copy(project, async (release) => {
      const newest = await this.generation(project, epoch);
      const { primary } = this.#of(project);
      const file = generation <= newest ? await primary.file(generation) : null;
      if (!file) throw elsewhere();
      return { sizeBytes: file.sizeBytes, send: (...to) => file.send(...to).finally(release) };
    });
  }

  async frames(project: Project, wanted: WantedFrames): Promise<FoundFrames> {
    const following = this.#of(project);
    if (this.#isWithin(NONE_MS, following.noneAt)) throw noReplicas();
    const range = { from: wanted.from, to: Math.min(wanted.to, wanted.from + FRAMES_MAX) };
    const [found, epoch] = await Promise.all([
      this.#ask(project, following, wanted.generation, range),
      this.#epoch(project, following),
    ]);
    if (epoch !== wanted.epoch) throw elsewhere();
    if (Buffer.isBuffer(found))
      return { frames: found, release: this.#outgoing.frames(project, found.length) };
    const newestSeen = following.seen?.generation ?? 0;
    // The server may have started another history, or stopped offering replicas.
    if (!found || found.newest < Math.max(newestSeen, wanted.generation)) {
      await this.generation(project, wanted.epoch);
    }
    if (!found || found.newest < wanted.generation) throw elsewhere();
    return found;
  }

  /** Runs one request at a time. */
  #generation(following: Following): Promise<number> {
    if (this.#isWithin(NONE_MS, following.noneAt)) throw noReplicas();
    following.asking ??= this.#askGeneration(following).finally(() => {
      following.asking = null;
    });
    return following.asking;
  }

  async #askGeneration(following: Following): Promise<number> {
    const generation = await following.primary.generation();
    if (generation !== null) return generation;
    following.noneAt = this.#clock.now();
    throw noReplicas();
  }

  /** A known epoch is good enough for frames: naming another history is a commit, too. */
  async #epoch(project: Project, following: Following): Promise<string> {
    const { known, reading } = following;
    const { position } = project;
    if (known?.position === position && this.#isWithin(HISTORY_MS, known.at)) return known.epoch;
    if (reading?.position === position) return reading.epoch;
    const started = { position, epoch: this.#read(project, following) };
    following.reading = started;
    return started.epoch.finally(() => {
      if (following.reading === started) following.reading = null;
    });
  }

  async #read(project: Project, following: Following): Promise<string> {
    const { position } = project;
    const epoch = epochOf(following.primary.address, await historyOf(project));
    following.known = { epoch, position, at: this.#clock.now() };
    return epoch;
  }

  #isWithin(ms: number, since: number): boolean {
    return Math.abs(this.#clock.now() - since) < ms;
  }

  /**
   * All replicas ask for the same frames at the same time. Callers that knew the same commits share one answer, which has what
   * each of them needs.
   */
  async #ask(
    project: Project,
    { primary, asks }: Following,
    generation: number,
    range: FrameRange,
  ): Promise<PrimaryFrames> {
    const key = [generation, range.from, range.to, project.position].join(' ');
    const known = asks.get(key);
    if (known) return known;
    if (asks.size >= ASKS_MAX) throw unavailable(1);
    const asked = primary.frames(generation, range).finally(() => asks.delete(key));
    asks.set(key, asked);
    return asked;
  }

  #of(project: Project): Following {
    let following = this.#following.get(project);
    if (!following) {
      following = {
        primary: this.#primaryOf(project),
        noneAt: -Infinity,
        asking: null,
        seen: null,
        known: null,
        reading: null,
        asks: new Map(),
      };
      this.#following.set(project, following);
    }
    return following;
  }

  #primaryOf({ info }: Project): RemotePrimary {
    const location = this.#databases.ofProject(info.id);
    if (location.kind === 'file') throw new Error('The database is a local file.');
    return new RemotePrimary(location);
  }
}

/** A server that goes back to an earlier generation isn't continuing the same history. */
function isBefore(generation: number, { name }: RemoteHistory, { seen }: Following): boolean {
  return seen?.history === name && generation < seen.generation;
}
