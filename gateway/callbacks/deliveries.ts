import type { Clock } from '../../shared/lib/clock.ts';
import type { DueDeliveries } from '../cluster/due-deliveries.ts';
import type { VersionedCache } from '../../shared/lib/versioned-cache.ts';
import type {
  CallbackMessage,
  ProjectInfo,
  ServerInfo,
  Vault,
} from '../../shared/kernel/context.ts';
import { toEnvelope } from '../../shared/kernel/envelope.ts';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { eventLinks } from '../../shared/kernel/links.ts';
import { isSuccess, type AttemptOutcome } from '../../shared/rules/inbox/retry-schedule.ts';
import type { DeliveryRow } from '../../shared/store/tables/inbox/deliveries.ts';
import type { EventRow } from '../../shared/store/tables/inbox/events.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';
import { AttemptLog } from './attempt-log.ts';
import type { DuePage } from '../lib/due-page.ts';
import { DestinationQueue, type AttemptResult } from './destination-queue.ts';
import { SigningSecrets } from './signing-secrets.ts';
import { Semaphore } from '../lib/semaphore.ts';

/** How many bytes of bodies are read at once for one destination. */
const PAGE_MAX_BYTES = 1024 * 1024;
/** Bytes of a body per slot. */
const SLOT_BYTES = 32 * 1024;
/** How many slots one project may take. */
const PROJECT_SLOTS_MAX = 128;
/** How many failed destinations are remembered while nothing is due for them. */
const SLOWED_MAX = 1000;
const AGAIN_MS = 5000;
/** How much of a turn must be left when an attempt starts. */
const TURN_LEFT_MS = 25_000;

/** What deliveries need from their project. */
export interface PushingProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  /** Which deliveries are to be tried here. */
  readonly dueDeliveries: DueDeliveries;
  newCache<T>(): VersionedCache<T>;
  atLatest(dueAt: number): void;
}

export interface DeliveriesDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Shared by all projects. */
  readonly semaphore: Semaphore;
  readonly send: (message: CallbackMessage) => Promise<AttemptOutcome>;
  readonly onError: (projectId: string, error: unknown) => void;
  readonly onClosed: (deliveries: Deliveries) => void;
}

/** A delivery with its event. */
interface LoadedDelivery {
  readonly id: string;
  readonly weight: number;
  readonly delivery: DeliveryRow;
  readonly event: EventRow;
  /** From this time on, it isn't our turn any more. */
  readonly until: number;
}

/**
 * Pushes one project's events to callbacks. The rows are the only record: a delivery stays due until its attempt is
 * recorded, so a crash at any point leads to another attempt with the same `webhook-id`. Each destination has its own
 * queue, so a slow or dead one delays no other.
 */
export class Deliveries {
  readonly #project: PushingProject;
  readonly #host: DeliveriesDeps;
  readonly #semaphore: Semaphore;
  readonly #secrets: SigningSecrets;
  readonly #log: AttemptLog;
  readonly #queues = new Map<string, DestinationQueue<LoadedDelivery>>();
  readonly #attempts = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(project: PushingProject, host: DeliveriesDeps) {
    this.#project = project;
    this.#host = host;
    this.#semaphore = new Semaphore(PROJECT_SLOTS_MAX, host.semaphore);
    this.#secrets = new SigningSecrets(project, host.vault);
    this.#log = new AttemptLog(project.writes, (error) => host.onError(project.info.id, error));
  }

  /** Whether something is being sent or about to be. */
  get isBusy(): boolean {
    return [...this.#queues.values()].some(({ isIdle }) => !isIdle);
  }

  /** Call when something is due for this destination. */
  wake(destination: string): void {
    if (this.#isClosed) return;
    let queue = this.#queues.get(destination);
    if (!queue) this.#queues.set(destination, (queue = this.#queueTo(destination)));
    queue.wake();
  }

  /** Looks for due deliveries to any destination. */
  async wakeDue(): Promise<void> {
    if (this.#isClosed) return;
    const now = this.#host.clock.now();
    const due = await this.#project.store.read((store) => store.deliveries.dueDestinations(now));
    for (const destination of due) this.wake(destination);
  }

  /** Call when routes or secrets have changed. */
  forget(): void {
    this.#secrets.forget();
  }

  /** Starts nothing more until it's resumed. */
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

  /** Records the remaining results of ended attempts, and leaves untried deliveries to others. */
  async close(): Promise<void> {
    this.stop();
    await this.#log.close();
    await this.#project.dueDeliveries.close().catch((error: unknown) => this.#fail(error));
    this.#host.onClosed(this);
  }

  #queueTo(destination: string): DestinationQueue<LoadedDelivery> {
    const queue = new DestinationQueue<LoadedDelivery>(this.#semaphore, {
      load: (limit, known) => this.#load(destination, limit, known),
      attempt: (loaded) => this.#attempt(loaded),
      onError: (error) => this.#fail(error),
      onIdle: () => this.#forgetIdle(destination, queue),
      onForgotten: (forgotten) => this.#giveBack(forgotten),
    });
    return queue;
  }

  /** Remembers a destination's pace as long as it's slower than an unknown one. */
  #forgetIdle(destination: string, queue: DestinationQueue<LoadedDelivery>): void {
    if (this.#queues.get(destination) !== queue) return;
    const isFull = this.#queues.size > SLOWED_MAX;
    if (isFull || !queue.isSlowed) this.#queues.delete(destination);
  }

  #fail(error: unknown): void {
    const { clock, onError } = this.#host;
    onError(this.#project.info.id, error);
    this.#project.atLatest(clock.now() + AGAIN_MS);
  }

  /** Another look finds what was loaded but not tried. While closing, `close` handles them. */
  #giveBack(forgotten: readonly LoadedDelivery[]): void {
    if (this.#isClosed) return;
    const given = this.#project.dueDeliveries.giveBack(forgotten.map(({ id }) => id));
    if (!given) return;
    const giving = given
      .then(() => this.#project.atLatest(this.#host.clock.now()))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#attempts.delete(giving));
    this.#attempts.add(giving);
  }

  #load(
    destination: string,
    limit: number,
    known: ReadonlySet<string>,
  ): Promise<DuePage<LoadedDelivery>> {
    const now = this.#host.clock.now();
    const options = { now, limit, known, load: loadAll };
    return this.#project.dueDeliveries.page(destination, options);
  }

  #attempt(loaded: LoadedDelivery): Promise<AttemptResult> {
    const attempt = this.#make(loaded).catch((error: unknown): AttemptResult => {
      this.#fail(error);
      return { kind: 'skipped' };
    });
    this.#attempts.add(attempt);
    return attempt.finally(() => this.#attempts.delete(attempt));
  }

  async #make(loaded: LoadedDelivery): Promise<AttemptResult> {
    const { clock } = this.#host;
    const { delivery } = loaded;
    const startedAt = clock.now();
    // It waited so long that our turn may end while it's under way.
    if (loaded.until - startedAt < TURN_LEFT_MS) return { kind: 'skipped' };
    const secrets = await this.#secrets.of(delivery.route_id, startedAt);
    if (secrets === null) {
      // Its route has closed: maintenance returns its deliveries under way and then asks for the rest.
      this.#project.atLatest(startedAt);
      return { kind: 'skipped' };
    }
    if (this.#isClosed) return { kind: 'skipped' };
    const outcome = await this.#send(loaded, secrets, startedAt);
    // It was cut off because this process is ending, so the receiver didn't fail.
    if (this.#isClosed && outcome.kind === 'failed') return { kind: 'skipped' };
    const { dueDeliveries } = this.#project;
    dueDeliveries.tried(delivery.id);
    const well = outcome.kind === 'answered' && isSuccess(outcome.status);
    const times = { startedAt, endedAt: clock.now() };
    const attempt = { deliveryId: delivery.id, ...times, outcome, jitter: Math.random() };
    const recorded = this.#log.add(attempt).finally(() => dueDeliveries.recorded(delivery.id));
    return { kind: 'made', well, recorded };
  }

  /** A delivery that we can't send counts as a failed attempt too, so that it doesn't block those after it. */
  async #send(
    { delivery, event }: LoadedDelivery,
    secrets: readonly string[],
    now: number,
  ): Promise<AttemptOutcome> {
    const { url, attempts } = delivery;
    try {
      const body = this.#bodyOf(event, delivery.route_id ?? '', now);
      return await this.#host.send({ url, secrets, id: event.id, body, attempt: attempts + 1 });
    } catch (error) {
      this.#host.onError(this.#project.info.id, error);
      const reason = 'The service could not send it.';
      return { kind: 'failed', reason, guard: false, durationMs: 0 };
    }
  }

  /**
   * The event as inbox_claim shows it. Built for each attempt, because its links last an hour, and as long as the route.
   * Callbacks of requests have no links.
   */
  #bodyOf(event: EventRow, holder: string, now: number): string {
    const { vault, server } = this.#host;
    const project = this.#project.info.id;
    const links = eventLinks({ vault, server }, project, event, { holder, now });
    const payload = { whole: true as const, ...links };
    return stringifyExact(toEnvelope(event, { project, now, reader: null, payload }));
  }
}

/** The first one, and more until their bodies would take too much memory. */
async function loadAll(
  store: Repositories,
  ids: readonly string[],
  { now, until }: { readonly now: number; readonly until: number },
): Promise<LoadedDelivery[]> {
  const loaded: LoadedDelivery[] = [];
  let bytes = 0;
  for (const id of ids) {
    if (bytes > PAGE_MAX_BYTES) break;
    const delivery = await store.deliveries.find(id);
    const event = delivery && (await store.events.findWholeAt(delivery.event_seq, now));
    if (!event) throw new Error(`The event of ${id} is not there.`);
    const bodyBytes = event.body?.length ?? 0;
    bytes += bodyBytes;
    const weight = 1 + Math.floor(bodyBytes / SLOT_BYTES);
    loaded.push({ id, weight, delivery, event, until });
  }
  return loaded;
}
