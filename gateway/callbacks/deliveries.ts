import type { Clock } from '../../shared/lib/clock.ts';
import type {
  CallbackMessage,
  ProjectInfo,
  ServerInfo,
  Vault,
} from '../../shared/kernel/context.ts';
import { toEnvelope } from '../../shared/kernel/envelope.ts';
import { stringifyExact } from '../../shared/lib/exact-json.ts';
import { eventLinks } from '../../shared/kernel/links.ts';
import { isSuccess, type AttemptOutcome } from '../../shared/rules/retry-schedule.ts';
import type { DeliveryRow } from '../../shared/store/deliveries.ts';
import type { EventRow } from '../../shared/store/events.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../commit/writers.ts';
import { AttemptLog } from './attempt-log.ts';
import { DestinationQueue, type Attempted, type Page } from './destination-queue.ts';
import { SigningSecrets } from './signing-secrets.ts';
import { Semaphore } from '../lib/semaphore.ts';

/** Bodies of this size are read at once for one destination. */
const PAGE_MAX_BYTES = 1024 * 1024;
/** Bytes of a body that one slot stands for. */
const SLOT_BYTES = 32 * 1024;
/** So many slots one project may hold. */
const PROJECT_SLOTS_MAX = 128;
/** So many destinations that failed are remembered while nothing is due to them. */
const SLOWED_MAX = 1000;
const AGAIN_MS = 5000;
/** How long a claim holds: for two attempts that take as long as they may, with time to write them down. */
const CLAIM_MS = 60_000;
/** What of it must be left when an attempt begins. */
const CLAIM_LEFT_MS = 25_000;
/** So many are claimed at once: no more than are tried in that time. */
const CLAIMS_MAX = 32;

/** What deliveries need of their project. */
export interface PushingProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  /** Other gateways push for it as well. */
  readonly shared: boolean;
  atLatest(dueAt: number): void;
}

export interface DeliveriesDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Those of all projects. */
  readonly semaphore: Semaphore;
  readonly send: (message: CallbackMessage) => Promise<AttemptOutcome>;
  readonly onError: (projectId: string, error: unknown) => void;
  readonly onClosed: (deliveries: Deliveries) => void;
}

/** A delivery with the event it carries. */
interface Loaded {
  readonly id: string;
  readonly weight: number;
  readonly delivery: DeliveryRow;
  readonly event: EventRow;
  /** Another gateway may take it up from this time on. */
  readonly claimedUntil: number;
}

/**
 * Pushes the events of one project to callbacks. Everything is found from the rows: what is due stays due until its
 * attempt is written down, so a crash at any point leads to another attempt with the same `webhook-id`. Each destination
 * has a queue of its own, so that one that is slow or dead keeps no other waiting.
 */
export class Deliveries {
  readonly #project: PushingProject;
  readonly #host: DeliveriesDeps;
  readonly #semaphore: Semaphore;
  readonly #secrets: SigningSecrets;
  readonly #log: AttemptLog;
  readonly #queues = new Map<string, DestinationQueue<Loaded>>();
  readonly #attempts = new Set<Promise<unknown>>();
  /** Until when what is not tried yet is claimed, where other gateways push as well. */
  readonly #claims = new Map<string, number>();
  /** Tried, and not written down yet. */
  readonly #made = new Set<string>();
  #isClosed = false;

  constructor(project: PushingProject, host: DeliveriesDeps) {
    this.#project = project;
    this.#host = host;
    this.#semaphore = new Semaphore(PROJECT_SLOTS_MAX, host.semaphore);
    this.#secrets = new SigningSecrets(project, host.vault);
    this.#log = new AttemptLog(project.writes, (error) => host.onError(project.info.id, error));
  }

  /** Something is being sent, or about to be. */
  get isBusy(): boolean {
    return [...this.#queues.values()].some(({ isIdle }) => !isIdle);
  }

  /** Something is due to this destination. */
  wake(destination: string): void {
    if (this.#isClosed) return;
    let queue = this.#queues.get(destination);
    if (!queue) this.#queues.set(destination, (queue = this.#queueTo(destination)));
    queue.wake();
  }

  /** Looks for what is due to any destination. */
  async wakeDue(): Promise<void> {
    if (this.#isClosed) return;
    const now = this.#host.clock.now();
    const due = await this.#project.store.read((store) => store.deliveries.dueDestinations(now));
    for (const destination of due) this.wake(destination);
  }

  /** Routes or secrets have changed. */
  forget(): void {
    this.#secrets.forget();
  }

  /** Begins nothing more, until it is resumed. */
  stop(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.values()) queue.close();
  }

  async resume(): Promise<void> {
    this.#queues.clear();
    this.#isClosed = false;
    await this.wakeDue();
  }

  /** Resolves when no attempt is under way. */
  async settled(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts);
  }

  /** Writes down what is left of attempts that have ended, and leaves to others what was not tried. */
  async close(): Promise<void> {
    this.stop();
    await this.#log.close();
    await this.#giveBackClaims(this.#claims.keys()).catch((error: unknown) => this.#fail(error));
    this.#host.onClosed(this);
  }

  #queueTo(destination: string): DestinationQueue<Loaded> {
    const queue = new DestinationQueue<Loaded>(this.#semaphore, {
      load: (limit, known) => this.#load(destination, limit, known),
      attempt: (loaded) => this.#attempt(loaded),
      onError: (error) => this.#fail(error),
      onIdle: () => this.#forgetIdle(destination, queue),
      onForgotten: (forgotten) => this.#release(forgotten),
    });
    return queue;
  }

  /** What a destination has taught is kept while it is slower than one nobody knows. */
  #forgetIdle(destination: string, queue: DestinationQueue<Loaded>): void {
    if (this.#queues.get(destination) !== queue) return;
    const isFull = this.#queues.size > SLOWED_MAX;
    if (isFull || !queue.isSlowed) this.#queues.delete(destination);
  }

  #fail(error: unknown): void {
    const { clock, onError } = this.#host;
    onError(this.#project.info.id, error);
    this.#project.atLatest(clock.now() + AGAIN_MS);
  }

  async #claim(destination: string, limit: number): Promise<Page<Loaded>> {
    const now = this.#host.clock.now();
    const claim = { now, until: now + CLAIM_MS, limit: Math.min(limit, CLAIMS_MAX) };
    const { store, writes } = this.#project;
    const due = await store.read((one) => one.deliveries.dueIds(destination, now, 1));
    if (due.length === 0) return { fresh: [], more: false, passedOver: false };
    const ids = await writes.run('claimDeliveries', { ...claim, destination });
    // A claim may lapse here, too: while it is at hand, or what came of its attempt is still to be written down.
    const unknown = ids.filter((id) => !this.#claims.has(id) && !this.#made.has(id));
    for (const id of ids) if (this.#claims.has(id)) this.#claims.set(id, claim.until);
    const fresh = await store.read((one) =>
      loadAll(one, unknown, { now, claimedUntil: claim.until }),
    );
    for (const { id } of fresh) this.#claims.set(id, claim.until);
    const left = unknown.slice(fresh.length);
    if (left.length > 0) await this.#giveBack(left, claim.until);
    const more = ids.length === claim.limit || left.length > 0;
    return { fresh, more, passedOver: unknown.length < ids.length };
  }

  /** What was claimed and is not to be tried now is due to whoever looks next. */
  async #giveBack(ids: readonly string[], claimedUntil: number): Promise<void> {
    const now = this.#host.clock.now();
    await this.#project.writes.run('giveBackDeliveries', { ids, claimedUntil, now });
  }

  /** What was claimed and then not tried is found by another look, here or elsewhere. When this closes, that is left to `close`. */
  #release(forgotten: readonly Loaded[]): void {
    const ids = forgotten.flatMap(({ id }) => (this.#claims.has(id) ? [id] : []));
    if (this.#isClosed || ids.length === 0) return;
    const releasing = this.#giveBackClaims(ids)
      .then(() => this.#project.atLatest(this.#host.clock.now()))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#attempts.delete(releasing));
    this.#attempts.add(releasing);
  }

  async #giveBackClaims(wanted: Iterable<string>): Promise<void> {
    const claims = [...wanted].map((id): [string, number] => [id, this.#claims.get(id) ?? 0]);
    for (const [id] of claims) this.#claims.delete(id);
    for (const until of new Set(claims.map(([, claimedUntil]) => claimedUntil))) {
      const ids = claims.flatMap(([id, claimedUntil]) => (claimedUntil === until ? [id] : []));
      await this.#giveBack(ids, until);
    }
  }

  #load(destination: string, limit: number, known: ReadonlySet<string>): Promise<Page<Loaded>> {
    if (this.#project.shared) return this.#claim(destination, limit);
    const now = this.#host.clock.now();
    return this.#project.store.read(async (store) => {
      const all = limit + known.size;
      const ids = await store.deliveries.dueIds(destination, now, all);
      const unknown = ids.filter((id) => !known.has(id));
      const fresh = await loadAll(store, unknown.slice(0, limit), {
        now,
        claimedUntil: Number.POSITIVE_INFINITY,
      });
      const more = ids.length === all || fresh.length < unknown.length;
      return { fresh, more, passedOver: unknown.length < ids.length };
    });
  }

  #attempt(loaded: Loaded): Promise<Attempted> {
    const attempt = this.#make(loaded).catch((error: unknown): Attempted => {
      this.#fail(error);
      return { kind: 'skipped' };
    });
    this.#attempts.add(attempt);
    return attempt.finally(() => this.#attempts.delete(attempt));
  }

  async #make(loaded: Loaded): Promise<Attempted> {
    const { clock } = this.#host;
    const { delivery } = loaded;
    const startedAt = clock.now();
    // It waited for so long that another may take it up while it is under way.
    if (loaded.claimedUntil - startedAt < CLAIM_LEFT_MS) return { kind: 'skipped' };
    const secrets = await this.#secrets.of(delivery.route_id, startedAt);
    if (secrets === null) {
      // Its route has closed: maintenance gives back what it had under way, and then calls for the rest.
      this.#project.atLatest(startedAt);
      return { kind: 'skipped' };
    }
    if (this.#isClosed) return { kind: 'skipped' };
    const outcome = await this.#send(loaded, secrets, startedAt);
    // It was cut off because this process ends: that is no failure of the receiver.
    if (this.#isClosed && outcome.kind === 'failed') return { kind: 'skipped' };
    this.#claims.delete(delivery.id);
    this.#made.add(delivery.id);
    const well = outcome.kind === 'answered' && isSuccess(outcome.status);
    const times = { startedAt, endedAt: clock.now() };
    const attempt = { deliveryId: delivery.id, ...times, outcome, jitter: Math.random() };
    const recorded = this.#log.add(attempt).finally(() => this.#made.delete(delivery.id));
    return { kind: 'made', well, recorded };
  }

  /** What we cannot send is a failed attempt as well: it must not stand in the way of what comes after it. */
  async #send(
    { delivery, event }: Loaded,
    secrets: readonly string[],
    now: number,
  ): Promise<AttemptOutcome> {
    const { url, attempts } = delivery;
    try {
      const body = this.#bodyOf(event, now);
      return await this.#host.send({ url, secrets, id: event.id, body, attempt: attempts + 1 });
    } catch (error) {
      this.#host.onError(this.#project.info.id, error);
      const reason = 'The service could not send it.';
      return { kind: 'failed', reason, guard: false, durationMs: 0 };
    }
  }

  /** The event as inbox_claim shows it. Written anew for each attempt: links live for an hour. */
  #bodyOf(event: EventRow, now: number): string {
    const { vault, server } = this.#host;
    const project = this.#project.info.id;
    const links = eventLinks({ vault, server }, project, event, now);
    return stringifyExact(toEnvelope(event, { project, now, payload: { whole: true, ...links } }));
  }
}

/** The first of them, and more until their bodies are too much to hold. */
async function loadAll(
  store: Repositories,
  ids: readonly string[],
  { now, claimedUntil }: { readonly now: number; readonly claimedUntil: number },
): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  let bytes = 0;
  for (const id of ids) {
    if (bytes > PAGE_MAX_BYTES) break;
    const delivery = await store.deliveries.find(id);
    const event = delivery && (await store.events.findWholeAt(delivery.event_seq, now));
    if (!event) throw new Error(`The event of ${id} is not there.`);
    const bodyBytes = event.body?.length ?? 0;
    bytes += bodyBytes;
    const weight = 1 + Math.floor(bodyBytes / SLOT_BYTES);
    loaded.push({ id, weight, delivery, event, claimedUntil });
  }
  return loaded;
}
