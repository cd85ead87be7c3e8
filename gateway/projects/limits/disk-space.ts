import { statfs } from 'node:fs/promises';
import type { ProjectInfo } from '../../../shared/kernel/context.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { PAYLOAD_INLINE_MAX_BYTES } from '../../../shared/lib/limits.ts';
import { limitText } from '../../../shared/rules/inbox/ingress-limit.ts';
import type { ProjectWrites } from '../../commit/thread/writers.ts';

export const DISK_LEVELS = ['ok', 'low', 'full'] as const;

/** `low`: the largest project takes nothing in. `full`: nobody takes in more than a few KB at once. */
type DiskLevel = (typeof DISK_LEVELS)[number];

/** The space of a disk. */
interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The disk with the least room, and what that means. */
export interface DiskStatus {
  readonly level: DiskLevel;
  readonly freeBytes: number;
  /** `low` begins below this, and `full` below a quarter of it; 0 if nothing is kept free. */
  readonly reserveBytes: number;
}

interface GuardedProject {
  readonly info: ProjectInfo;
  readonly writes: ProjectWrites;
  inBackground(work: () => Promise<void>): void;
}

interface DiskSpaceDeps {
  /** The folders of databases and blobs; they may be on different disks. */
  readonly folders: readonly string[];
  /** Bytes to keep free: 0 for none, null for a tenth of the disk, at most 1 GiB. */
  readonly reserveBytes: number | null;
  /** Deletes what can be made again; the disk is measured again right afterwards. */
  giveUp(): Promise<void>;
  /** The bytes that each project stores. */
  sizes(only?: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>;
  now(): number;
  onChange(status: DiskStatus): void;
  onError(error: unknown): void;
  /** Tests pass their own. */
  readonly probe?: (folder: string) => Promise<Space>;
}

const GIB = 1024 ** 3;
/** How long a measurement stays valid. Nothing measures the disk while nothing comes in. */
const FRESH_MS = 2000;
const RETRY_SECONDS = 30;
const GIVE_UP_MS = 60_000;
/** A level ends only above this multiple of where it begins, so that it doesn't flicker. */
const RELEASE = 1.25;
/** `full` begins at this part of the reserve. */
const FULL_PART = 0.25;

/**
 * Keeps a part of the disk free for acks, decisions and small writes. Below the reserve, it first deletes what can be made
 * again. If that isn't enough, the project that stores the most takes nothing in, nor does any that grows as large. Below
 * a quarter of it, no project takes in large bodies.
 */
export class DiskSpace {
  readonly #deps: DiskSpaceDeps;
  #status: DiskStatus = { level: 'ok', freeBytes: Infinity, reserveBytes: 0 };
  #lookedAt = Number.NEGATIVE_INFINITY;
  #gaveUpAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** While the disk is low: how much projects store, from which size on they take nothing in, and who asked. */
  readonly #sizes = new Map<string, number>();
  #refusedFrom = Infinity;
  readonly #asked = new Set<string>();
  readonly #told = new Set<string>();

  constructor(deps: DiskSpaceDeps) {
    this.#deps = deps;
  }

  /** As of the last look. */
  get status(): DiskStatus {
    return this.#status;
  }

  /** As of now, give or take two seconds. */
  async fresh(): Promise<DiskStatus> {
    if (this.#isStale) await this.refresh();
    return this.#status;
  }

  get #isStale(): boolean {
    // The clock may go back.
    return Math.abs(this.#deps.now() - this.#lookedAt) > FRESH_MS;
  }

  /** UNAVAILABLE if the project can't take in this many bytes now. Measures the disk now and then, without waiting. */
  admit(project: GuardedProject, bytes: number): void {
    if (this.#isStale && this.#deps.reserveBytes !== 0) void this.refresh();
    const { level } = this.#status;
    if (level === 'ok') return;
    const { id } = project.info;
    this.#asked.add(id);
    const isLargest = (this.#sizes.get(id) ?? 0) >= this.#refusedFrom;
    if (isLargest) this.#tell(project);
    if (!isLargest && (level === 'low' || bytes <= PAYLOAD_INLINE_MAX_BYTES)) return;
    throw new ServiceError('UNAVAILABLE', {
      hint: isLargest ? limitText('gateway_disk', 0) : "The server's disk is nearly full.",
      details: { retry_after: RETRY_SECONDS, kind: 'gateway_disk' },
    });
  }

  /** Looks at the disk. Never rejects. */
  refresh(): Promise<void> {
    this.#looking ??= this.#refresh()
      .catch((error: unknown) => this.#deps.onError(error))
      .finally(() => {
        this.#lookedAt = this.#deps.now();
        this.#looking = null;
      });
    return this.#looking;
  }

  async #refresh(): Promise<void> {
    const before = this.#status.level;
    let worst = await this.#worst();
    if (
      worst &&
      levelAfter(before, worst.free, worst.reserve) !== 'ok' &&
      this.#mayGiveUp(before)
    ) {
      await this.#deps.giveUp().catch((error: unknown) => this.#deps.onError(error));
      worst = await this.#worst();
    }
    if (!worst) return;
    const level = levelAfter(before, worst.free, worst.reserve);
    this.#status = { level, freeBytes: worst.free, reserveBytes: worst.reserve };
    if (level === 'ok') this.#forget();
    else await this.#measure(before === 'ok');
    if (level !== before) this.#deps.onChange(this.#status);
  }

  /** The disk with the least room; undefined if there is none to measure. */
  async #worst(): Promise<{ readonly free: number; readonly reserve: number } | undefined> {
    const { folders, reserveBytes, probe = spaceOf } = this.#deps;
    const all = await Promise.all(folders.map((folder) => probe(folder)));
    const [worst] = all
      .map((space) => ({ free: space.freeBytes, reserve: reserveOf(space, reserveBytes) }))
      .toSorted((one, other) => one.free / (one.reserve || 1) - other.free / (other.reserve || 1));
    return worst;
  }

  /**
   * Gives up space before anybody is refused, and after that only now and then, because it reads each project's folder.
   */
  #mayGiveUp(level: DiskLevel): boolean {
    const now = this.#deps.now();
    if (level !== 'ok' && Math.abs(now - this.#gaveUpAt) < GIVE_UP_MS) return false;
    this.#gaveUpAt = now;
    return true;
  }

  /** Measures all projects when the disk gets low, and later those that something comes in for. */
  async #measure(isFirst: boolean): Promise<void> {
    const sizes = await this.#deps.sizes(isFirst ? undefined : this.#asked);
    for (const [id, bytes] of sizes) this.#sizes.set(id, bytes);
    if (isFirst) this.#refusedFrom = Math.max(...sizes.values());
    this.#asked.clear();
  }

  #forget(): void {
    this.#refusedFrom = Infinity;
    for (const each of [this.#sizes, this.#asked, this.#told]) each.clear();
  }

  #tell(project: GuardedProject): void {
    const { id } = project.info;
    if (this.#told.has(id)) return;
    this.#told.add(id);
    const { reserveBytes, freeBytes } = this.#status;
    const order = { reserveBytes, freeBytes, now: this.#deps.now() };
    project.inBackground(async () => {
      await project.writes.run('diskLimited', order);
    });
  }
}

/** The level at this free space, coming from another level. */
export function levelAfter(before: DiskLevel, free: number, reserve: number): DiskLevel {
  const full = reserve * FULL_PART;
  if (free < full || (before === 'full' && free < full * RELEASE)) return 'full';
  return free < reserve || (before !== 'ok' && free < reserve * RELEASE) ? 'low' : 'ok';
}

function reserveOf({ totalBytes }: Space, wanted: number | null): number {
  return wanted ?? Math.min(GIB, totalBytes / 10);
}

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
