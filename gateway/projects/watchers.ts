import type { Effect } from '../commit/job.ts';

/** What has changed in a project, as far as pages tell it apart. `any` comes with every commit. */
export type Topic = 'any' | 'requests' | 'events' | 'routes' | 'sources' | 'channels' | 'keys';

export interface Watcher {
  /** Called a moment after commits, with what they were about. Never throws. */
  readonly changed: (topics: readonly Topic[]) => void;
  /** Nothing more is told. */
  readonly ended: () => void;
}

/** Pages need not be quicker than eyes: what happens within this time is told at once. */
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
  // What it was is known elsewhere.
  foreign: ALL_TOPICS,
  event_ready: ['events'],
  request_ended: ['requests', 'channels'],
  notices_due: ['requests', 'channels'],
  sources_changed: ['sources'],
  callbacks_changed: ['routes'],
  delivery_due: ['events', 'routes'],
  keys_changed: ['keys'],
  key_ended: ['keys'],
};

/** Tells pages that somebody looks at what kind of thing has changed. Costs nothing while nobody looks. */
export class Watchers {
  readonly #watchers = new Set<Watcher>();
  readonly #topics = new Set<Topic>();
  readonly #onJoin: () => void;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** `onJoin` is told of each that comes. */
  constructor(onJoin: () => void) {
    this.#onJoin = onJoin;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Returns what takes it away again. One that comes after the close is ended at once. */
  add(watcher: Watcher): () => void {
    if (this.#isClosed) {
      watcher.ended();
      return () => undefined;
    }
    this.#watchers.add(watcher);
    this.#onJoin();
    return () => this.#watchers.delete(watcher);
  }

  /** Takes in what came of a commit. */
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
