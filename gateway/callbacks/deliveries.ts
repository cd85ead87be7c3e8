import type { Clock } from '../../shared/clock.ts';
import type { CallbackMessage, ProjectInfo, ServerInfo, Vault } from '../../shared/context.ts';
import { toEnvelope } from '../../shared/envelope.ts';
import { eventLinks } from '../../shared/links.ts';
import { isSuccess, type AttemptOutcome } from '../../shared/rules/retry-schedule.ts';
import type { DeliveryRow } from '../../shared/store/deliveries.ts';
import type { EventRow } from '../../shared/store/events.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../writes/writers.ts';
import { AttemptLog } from './attempt-log.ts';
import { DestinationQueue, type Attempted, type Page } from './destination-queue.ts';
import { SigningSecrets } from './signing-secrets.ts';
import { Slots } from '../slots.ts';

/** Bodies of this size are read at once for one destination. */
const PAGE_MAX_BYTES = 1024 * 1024;
/** Bytes of a body that one slot stands for. */
const SLOT_BYTES = 32 * 1024;
/** So many slots one project may hold. */
const PROJECT_SLOTS_MAX = 128;
/** So many destinations that failed are remembered while nothing is due to them. */
const SLOWED_MAX = 1000;
const AGAIN_MS = 5000;

/** What deliveries need of their project. */
export interface PushingProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  atLatest(dueAt: number): void;
}

export interface DeliveriesHost {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Those of all projects. */
  readonly slots: Slots;
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
}

/**
 * Pushes the events of one project to callbacks. Everything is found from the rows: what is due stays due until its
 * attempt is written down, so a crash at any point leads to another attempt with the same `webhook-id`. Each destination
 * has a queue of its own, so that one that is slow or dead keeps no other waiting.
 */
export class Deliveries {
  readonly #project: PushingProject;
  readonly #host: DeliveriesHost;
  readonly #slots: Slots;
  readonly #secrets: SigningSecrets;
  readonly #log: AttemptLog;
  readonly #queues = new Map<string, DestinationQueue<Loaded>>();
  readonly #attempts = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(project: PushingProject, host: DeliveriesHost) {
    this.#project = project;
    this.#host = host;
    this.#slots = new Slots(PROJECT_SLOTS_MAX, host.slots);
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

  /** Begins nothing more. */
  stop(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.values()) queue.close();
  }

  /** Resolves when no attempt is under way. */
  async settled(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts);
  }

  /** Writes down what is left of attempts that have ended. */
  async close(): Promise<void> {
    this.stop();
    await this.#log.close();
    this.#host.onClosed(this);
  }

  #queueTo(destination: string): DestinationQueue<Loaded> {
    const queue = new DestinationQueue<Loaded>(this.#slots, {
      load: (limit, known) => this.#load(destination, limit, known),
      attempt: (loaded) => this.#attempt(loaded),
      onError: (error) => this.#fail(error),
      onIdle: () => this.#forgetIdle(destination, queue),
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

  #load(destination: string, limit: number, known: ReadonlySet<string>): Promise<Page<Loaded>> {
    const now = this.#host.clock.now();
    return this.#project.store.read(async (store) => {
      const all = limit + known.size;
      const ids = await store.deliveries.dueIds(destination, now, all);
      const unknown = ids.filter((id) => !known.has(id));
      const fresh = await loadAll(store, unknown.slice(0, limit));
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
    const secrets = await this.#secrets.of(delivery.route_id, startedAt);
    if (secrets === null) {
      // Its route has closed: upkeep gives back what it had under way, and then calls for the rest.
      this.#project.atLatest(startedAt);
      return { kind: 'skipped' };
    }
    if (this.#isClosed) return { kind: 'skipped' };
    const outcome = await this.#send(loaded, secrets, startedAt);
    // It was cut off because this process ends: that is no failure of the receiver.
    if (this.#isClosed && outcome.kind === 'failed') return { kind: 'skipped' };
    const well = outcome.kind === 'answered' && isSuccess(outcome.status);
    const times = { startedAt, endedAt: clock.now() };
    const attempt = { deliveryId: delivery.id, ...times, outcome, jitter: Math.random() };
    return { kind: 'made', well, recorded: this.#log.add(attempt) };
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
    return JSON.stringify(toEnvelope(event, { project, now, payload: { whole: true, ...links } }));
  }
}

/** The first of them, and more until their bodies are too much to hold. */
async function loadAll(store: Repositories, ids: readonly string[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  let bytes = 0;
  for (const id of ids) {
    if (bytes > PAGE_MAX_BYTES) break;
    const delivery = await store.deliveries.find(id);
    const event = delivery && (await store.events.findWholeAt(delivery.event_seq));
    if (!event) throw new Error(`The event of ${id} is not there.`);
    const bodyBytes = event.body?.length ?? 0;
    bytes += bodyBytes;
    loaded.push({ id, weight: 1 + Math.floor(bodyBytes / SLOT_BYTES), delivery, event });
  }
  return loaded;
}
