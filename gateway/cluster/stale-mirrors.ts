import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../shared/lib/clock.ts';
import { CONTROL_FOLDER } from '../store/databases.ts';

/** A mirror that nobody opened for this long is deleted, because it still has what was deleted since. */
const KEPT_MS = 7 * 86_400_000;

/** How often they are looked for. */
const LOOK_MS = 86_400_000;

interface StaleMirrorsDeps {
  /** The folder of the mirrors; there is none where databases always were files. */
  readonly folder: string;
  readonly control: { projects(): Promise<readonly { readonly id: string }[]> };
  readonly projects: { isOpen(projectId: string): boolean };
  readonly clock: Clock;
}

/** Deletes the mirrors of projects that are gone, or that this gateway hasn't used for a week. */
export class StaleMirrors {
  readonly #deps: StaleMirrorsDeps;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: StaleMirrorsDeps) {
    this.#deps = deps;
  }

  /** Looks now, and once a day. */
  async start(): Promise<void> {
    await this.#drop();
    // If the server is away, the next time will do.
    const drop = (): void => void this.#drop().catch(() => undefined);
    this.#timer = setInterval(drop, LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #drop(): Promise<void> {
    const { folder, control, projects, clock } = this.#deps;
    const projectIds = new Set((await control.projects()).map(({ id }) => id));
    for (const name of await readdir(folder).catch(() => [])) {
      if (name === CONTROL_FOLDER || projects.isOpen(name)) continue;
      const path = join(folder, name);
      const isKept = projectIds.has(name) && clock.now() - (await usedAt(path)) < KEPT_MS;
      // It may have been opened in the meantime.
      if (!isKept && !projects.isOpen(name)) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Each opening and each write changes the folder or a file in it. */
async function usedAt(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const times = ['', ...names].map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.mtimeMs ?? 0;
  });
  return Math.max(...(await Promise.all(times)));
}
