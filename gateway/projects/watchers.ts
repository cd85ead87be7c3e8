import type { Effect } from '../commit/context/job.ts';

/** The kinds of change that pages tell apart. `any` comes with every commit. */
export type Topic = 'any' | 'requests' | 'events' | 'routes' | 'sources' | 'channels' | 'keys';

export interface Watcher {
  /** Called shortly after commits with the topics that changed. Never throws. */
  readonly changed: (topics: readonly Topic[]) => void;
  /** Called when no more changes will be reported. */
  readonly ended: () => void;
}

/** Pages needn't be faster than the eye: changes within this time are reported together. */
const PAUSE_MS = 200;

export const ALL_TOPICS: readonly Topic[] = [
  'any',
  'requests',
  'events',
  'routes',
  'sources',
  'channels',
  'keys',
];

const TOPICS: Readonly<Partial<Record<Effect['kind'], readonly Topic[]>>> = {
  committed: ['any'],
  // Another gateway's commit: what changed isn't known here.
  foreign: ALL_TOPICS,
  event_ready: ['events'],
  request_ended: ['requests', 'channels'],
  notices_due: ['requests', 'channels'],
  sources_changed: ['sources'],
  callbacks_changed: ['routes'],
  delivery_due: ['events', 'routes'],
  members_changed: ['channels'],
  keys_changed: ['keys'],
  key_ended: ['keys'],
};

/** Tells open pages what kind of thing has changed. Costs nothing while no page is open. */
export class Watchers {
  readonly #watchers = new Set<Watcher>();
  readonly #topics = new Set<Topic>();
  readonly #onJoin: () => void;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** `onJoin` is called for each new watcher. */
  constructor(onJoin: () => void) {
    this.#onJoin = onJoin;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Adds a watcher and returns a function that removes it. After `close`, a new watcher is ended at once. */
  add(watcher: Watcher): () => void {
    if (this.#isClosed) {
      watcher.ended();
      return () => undefined;
    }
    this.#watchers.add(watcher);
    this.#onJoin();
    return () => this.#watchers.delete(watcher);
  }

  /** Records an effect of a commit. */
  note({ kind }: Effect): void {
    const topics = TOPICS[kind];
    if (this.size === 0 || topics === undefined) return;
    for (const topic of topics) this.#topics.add(topic);
    this.#timer ??= setTimeout(() => this.#tell(), PAUSE_MS);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.ended();
    this.#watchers.clear();
  }

  #tell(): void {
    this.#timer = null;
    const topics = [...this.#topics];
    this.#topics.clear();
    for (const watcher of this.#watchers) watcher.changed(topics);
  }
}
