import { unavailable } from '../../shared/lib/errors.ts';
import type { Project } from '../projects/project.ts';

/** Copies of the database on their way. Each holds a file or a connection open for as long as it is taken. */
const COPIES_MAX = 64;
/** Bytes of frames on their way to clients, who may be slow to take them. */
const FRAMES_MAX_BYTES = 32 * 1024 * 1024;

interface UnderWay {
  copies: number;
  frameBytes: number;
}

/** What is on its way to the replicas of each project, and no more of it than may be. */
export class Outgoing {
  readonly #underWay = new WeakMap<Project, UnderWay>();

  /**
   * Keeps a place while a copy is begun; `begin` gets what gives it back, to be called once, when the copy has been taken. A
   * copy that could not be begun gives it back by itself. UNAVAILABLE when all places are taken.
   */
  async copy<T>(project: Project, begin: (release: () => void) => Promise<T>): Promise<T> {
    const underWay = this.#of(project);
    if (underWay.copies >= COPIES_MAX) throw unavailable(5);
    underWay.copies += 1;
    const release = (): void => {
      underWay.copies -= 1;
    };
    try {
      return await begin(release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Counts frames until what is returned is called, once, when they are sent. UNAVAILABLE when there are too many. */
  frames(project: Project, sizeBytes: number): () => void {
    const underWay = this.#of(project);
    if (underWay.frameBytes + sizeBytes > FRAMES_MAX_BYTES) throw unavailable(1);
    underWay.frameBytes += sizeBytes;
    return () => {
      underWay.frameBytes -= sizeBytes;
    };
  }

  #of(project: Project): UnderWay {
    const known = this.#underWay.get(project);
    if (known) return known;
    const fresh = { copies: 0, frameBytes: 0 };
    this.#underWay.set(project, fresh);
    return fresh;
  }
}
