import { unavailable } from '../../shared/lib/errors.ts';
import type { Project } from '../projects/project.ts';

/** How many database copies may be in flight. Each holds a file or a connection open until the client has it. */
const COPIES_MAX = 64;
/** How many bytes of frames may be in flight to clients, which may read slowly. */
const FRAMES_MAX_BYTES = 32 * 1024 * 1024;

interface UnderWay {
  copies: number;
  frameBytes: number;
}

/** Limits the data in flight to the replicas of each project. */
export class Outgoing {
  readonly #underWay = new WeakMap<Project, UnderWay>();

  /**
   * Reserves a slot for a copy. `begin` gets `release`, which it calls once the copy is sent; if `begin` fails, the slot is
   * free again. UNAVAILABLE if all slots are taken.
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

  /** Counts frames as in flight; call the returned function once they are sent. UNAVAILABLE if there are too many. */
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
