import { hash, randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFault } from '../lib/durable-files.ts';
import type { S3Client } from './s3-client.ts';

const RENEW_MS = 10_000;
/** A mark that hasn't been renewed for this long is from a process that died. */
const LAPSE_MS = 60_000;
const PREFIX = 'copying.';
const NOTHING = new Uint8Array();

interface Mark {
  readonly name: string;
  /** Changes whenever the mark is renewed; never compared with a clock. */
  readonly changedAt: number;
}

/** Where a project's marks are. */
interface MarkStore {
  list(): Promise<Mark[]>;
  /** Creates a mark or renews it. */
  touch(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** How long an answer of `list` may be used again; 0 if asking is cheap. */
  readonly freshMs: number;
}

/** A copy that is being made. */
export interface CopyMark {
  end(): Promise<void>;
}

/**
 * Says that a process is copying a project's blobs: meanwhile no gateway erases any of them. The marks are next to the
 * blobs, so every process that can erase a blob sees them, and a copy needs nobody's help. A blob that a snapshot names
 * stays while the mark does, because
 *
 * 1. the mark is there before the snapshot is made, and
 * 2. a gateway looks for marks after the commit that dropped the blob's last row, which the snapshot doesn't have.
 *
 * A process that dies leaves a mark that lapses, and the gateway removes it.
 */
export class CopyMarks {
  readonly #store: MarkStore;
  /** When each mark was last seen to change, in milliseconds of a monotonic clock. */
  readonly #seen = new Map<string, { readonly changedAt: number; readonly at: number }>();
  #last: { readonly at: number; readonly isCopying: boolean } | null = null;

  constructor(store: MarkStore) {
    this.#store = store;
  }

  /** Whether a process is copying the blobs. */
  async isCopying(): Promise<boolean> {
    const at = performance.now();
    if (this.#last && at - this.#last.at < this.#store.freshMs) return this.#last.isCopying;
    const marks = await this.#store.list();
    const lapsed = marks.filter((mark) => this.#hasLapsed(mark, at));
    for (const { name } of lapsed) await this.#store.remove(name);
    const names = new Set(marks.map(({ name }) => name));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    this.#last = { at, isCopying: lapsed.length < marks.length };
    return this.#last.isCopying;
  }

  /** Announces a copy. Once this resolves, no blob is erased that a row names from now on. */
  async announce(): Promise<CopyMark> {
    const name = randomUUID();
    await this.#store.touch(name);
    let renewal = Promise.resolve();
    const timer = setInterval(() => {
      // If it fails, the copy may miss a blob, and is made again.
      renewal = this.#store.touch(name).catch(() => undefined);
    }, RENEW_MS);
    const { freshMs } = this.#store;
    // A gateway may still use an answer from before.
    if (freshMs > 0) await sleep(2 * freshMs);
    return {
      end: async () => {
        clearInterval(timer);
        await renewal;
        await this.#store.remove(name);
      },
    };
  }

  #hasLapsed({ name, changedAt }: Mark, now: number): boolean {
    const seen = this.#seen.get(name);
    if (seen?.changedAt === changedAt) return now - seen.at > LAPSE_MS;
    this.#seen.set(name, { changedAt, at: now });
    return false;
  }
}

/** Marks as files in a project's folder, which belongs to the gateway even if another user makes the copy. */
export function folderMarks(folder: string): CopyMarks {
  const pathOf = (name: string): string => join(folder, PREFIX + name);
  return new CopyMarks({
    freshMs: 0,
    async list() {
      const marks: Mark[] = [];
      for (const file of await namesIn(folder)) {
        if (!file.startsWith(PREFIX)) continue;
        const name = file.slice(PREFIX.length);
        const changedAt = await changeOf(pathOf(name));
        if (changedAt !== null) marks.push({ name, changedAt });
      }
      return marks;
    },
    async touch(name) {
      const file = await open(pathOf(name), 'a', 0o600);
      try {
        const now = new Date();
        await file.utimes(now, now);
      } finally {
        await file.close();
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  });
}

/** Marks as objects `projects/<id>/copying.<name>`. */
export function bucketMarks(client: S3Client, projectId: string): CopyMarks {
  const prefix = `projects/${projectId}/${PREFIX}`;
  return new CopyMarks({
    freshMs: 2000,
    async list() {
      const marks: Mark[] = [];
      for await (const { key, changedAt } of client.list(prefix)) {
        marks.push({ name: key.slice(prefix.length), changedAt });
      }
      return marks;
    },
    touch: (name) => client.put(prefix + name, NOTHING, hash('sha256', NOTHING)),
    remove: (name) => client.delete(prefix + name),
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isFault(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Null if the file is gone. */
async function changeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isFault(error, 'ENOENT')) return null;
    throw error;
  }
}
