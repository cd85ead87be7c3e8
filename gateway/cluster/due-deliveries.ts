import type { Clock } from '../../shared/lib/clock.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { DuePage } from '../lib/due-page.ts';
import type { CoordinatedProject } from './coordination.ts';

/** How long a claim lasts: enough for two attempts at full length and for recording them. */
const CLAIM_MS = 60_000;
/** How many are claimed at once: no more than can be tried in that time. */
const CLAIMS_MAX = 32;

interface LookOptions<D> {
  readonly now: number;
  readonly limit: number;
  /** Deliveries that the queue already has. */
  readonly known: ReadonlySet<string>;
  /** Loads the first of them; `until` is the time from which on another gateway may take them. */
  readonly load: (
    store: Repositories,
    ids: readonly string[],
    turn: { readonly now: number; readonly until: number },
  ) => Promise<D[]>;
}

/** Finds the deliveries of a project that this gateway tries, and says what became of them. */
export interface DueDeliveries {
  page<D extends { readonly id: string }>(
    destination: string,
    options: LookOptions<D>,
  ): Promise<DuePage<D>>;
  /** It was tried; its result isn't recorded yet. */
  tried(id: string): void;
  recorded(id: string): void;
  /** These won't be tried now. Resolves once others may take them; null if nobody waits for that. */
  giveBack(ids: readonly string[]): Promise<void> | null;
  /** Leaves to others what wasn't tried. */
  close(): Promise<void>;
}

/** For a gateway that pushes alone: a delivery is due until its result is recorded. */
export class OwnDeliveries implements DueDeliveries {
  readonly #store: ProjectReader;

  constructor(store: ProjectReader) {
    this.#store = store;
  }

  page<D extends { readonly id: string }>(
    destination: string,
    { now, limit, known, load }: LookOptions<D>,
  ): Promise<DuePage<D>> {
    return this.#store.read(async (store) => {
      const all = limit + known.size;
      const ids = await store.deliveries.dueIds(destination, now, all);
      const unknown = ids.filter((id) => !known.has(id));
      const turn = { now, until: Number.POSITIVE_INFINITY };
      const fresh = await load(store, unknown.slice(0, limit), turn);
      const more = ids.length === all || fresh.length < unknown.length;
      return { fresh, more, passedOver: unknown.length < ids.length };
    });
  }

  tried(): void {
    // Nobody else asks.
  }

  recorded(): void {
    // Nobody else asks.
  }

  giveBack(): null {
    return null;
  }

  async close(): Promise<void> {
    // They are due as before.
  }
}

type ClaimingProject = Pick<CoordinatedProject, 'store' | 'writes'>;

/** For one of several: it claims what it's about to try, for a while. */
export class ClaimedDeliveries implements DueDeliveries {
  readonly #project: ClaimingProject;
  readonly #clock: Clock;
  /** Until when untried deliveries are claimed. */
  readonly #claims = new Map<string, number>();
  /** Tried but not recorded yet. */
  readonly #tried = new Set<string>();

  constructor(project: ClaimingProject, clock: Clock) {
    this.#project = project;
    this.#clock = clock;
  }

  async page<D extends { readonly id: string }>(
    destination: string,
    { now, limit, load }: LookOptions<D>,
  ): Promise<DuePage<D>> {
    const claim = { now, until: now + CLAIM_MS, limit: Math.min(limit, CLAIMS_MAX) };
    const { store, writes } = this.#project;
    const due = await store.read((one) => one.deliveries.dueIds(destination, now, 1));
    if (due.length === 0) return { fresh: [], more: false, passedOver: false };
    const ids = await writes.run('claimDeliveries', { ...claim, destination });
    // A claim may also lapse here, while its delivery waits or its result isn't recorded yet.
    const unknown = ids.filter((id) => !this.#claims.has(id) && !this.#tried.has(id));
    for (const id of ids) if (this.#claims.has(id)) this.#claims.set(id, claim.until);
    const fresh = await store.read((one) => load(one, unknown, claim));
    for (const { id } of fresh) this.#claims.set(id, claim.until);
    const left = unknown.slice(fresh.length);
    if (left.length > 0) await this.#release(left, claim.until);
    const more = ids.length === claim.limit || left.length > 0;
    return { fresh, more, passedOver: unknown.length < ids.length };
  }

  tried(id: string): void {
    this.#claims.delete(id);
    this.#tried.add(id);
  }

  recorded(id: string): void {
    this.#tried.delete(id);
  }

  giveBack(ids: readonly string[]): Promise<void> | null {
    const claimed = ids.filter((id) => this.#claims.has(id));
    return claimed.length === 0 ? null : this.#releaseAll(claimed);
  }

  close(): Promise<void> {
    return this.#releaseAll([...this.#claims.keys()]);
  }

  async #releaseAll(ids: readonly string[]): Promise<void> {
    const claims = ids.map((id): [string, number] => [id, this.#claims.get(id) ?? 0]);
    for (const [id] of claims) this.#claims.delete(id);
    for (const until of new Set(claims.map(([, one]) => one))) {
      const ofThem = claims.flatMap(([id, one]) => (one === until ? [id] : []));
      await this.#release(ofThem, until);
    }
  }

  /** The next look, here or elsewhere, finds them. */
  async #release(ids: readonly string[], claimedUntil: number): Promise<void> {
    const now = this.#clock.now();
    await this.#project.writes.run('giveBackDeliveries', { ids, claimedUntil, now });
  }
}
