/** A mark in the disk's log: a call to the daemon, or its acknowledgement. */
export interface Mark {
  /** `done` when the daemon has acknowledged it: then it must be true for ever after. */
  readonly phase: 'sent' | 'done';
  readonly fact: Fact;
}

export type Fact =
  /** The daemon answers; this is where, until it ends, and the key. */
  | { readonly kind: 'ready'; readonly key: string; readonly project: string }
  | { readonly kind: 'source'; readonly name: string; readonly path: string }
  | ({ readonly kind: 'delivery' } & Delivery)
  | { readonly kind: 'event'; readonly event: string; readonly state: EventState }
  /** Came to the receiver of callbacks. */
  | { readonly kind: 'pushed'; readonly event: string }
  | { readonly kind: 'kv'; readonly name: string; readonly value: string }
  /** A digest of the bytes, or null for a file that was deleted. */
  | { readonly kind: 'file'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'request'; readonly name: string; readonly value: 'pending' | 'approved' }
  | { readonly kind: 'mail'; readonly batch: string };

export interface Delivery {
  readonly source: string;
  readonly id: string;
  readonly digest: string;
  readonly bytes: number;
  /** Null until it's known. */
  readonly event: string | null;
}

/** An event's states, in the order they can happen. */
export const EVENT_STATES = ['pending', 'claimed', 'waiting', 'failed', 'dead', 'done'] as const;
export type EventState = (typeof EVENT_STATES)[number];

/** Something with one value at a time, whose writer waits for each answer. */
export interface Held<T> {
  /** Acknowledged last; undefined where nothing was. */
  sure: T | undefined;
  /** Sent since. */
  readonly maybe: T[];
}

/** Everything acknowledged before a power cut. */
export class Facts {
  ready: Extract<Fact, { kind: 'ready' }> | null = null;
  /** The paths of the addresses of sources, by name. */
  readonly sources = new Map<string, string>();
  /** By the sender's id. */
  readonly deliveries = new Map<string, Delivery>();
  readonly events = new Map<string, Held<EventState>>();
  readonly pushed = new Set<string>();
  readonly kv = new Map<string, Held<string>>();
  readonly files = new Map<string, Held<string | null>>();
  readonly requests = new Map<string, Held<'pending' | 'approved'>>();
  readonly mails = new Set<string>();
  /** How many were acknowledged. */
  acknowledged = 0;

  add({ phase, fact }: Mark): void {
    if (phase === 'done') this.acknowledged += 1;
    switch (fact.kind) {
      case 'ready':
        this.ready = fact;
        break;
      case 'source':
        this.sources.set(fact.name, fact.path);
        break;
      case 'delivery':
        this.deliveries.set(fact.id, fact);
        break;
      case 'event':
        hold(this.events, fact.event, fact.state, phase);
        break;
      case 'pushed':
        this.pushed.add(fact.event);
        break;
      case 'mail':
        this.mails.add(fact.batch);
        break;
      case 'kv':
        hold(this.kv, fact.name, fact.value, phase);
        break;
      case 'file':
        hold(this.files, fact.name, fact.value, phase);
        break;
      case 'request':
        hold(this.requests, fact.name, fact.value, phase);
        break;
    }
  }
}

function hold<T>(all: Map<string, Held<T>>, name: string, value: T, phase: Mark['phase']): void {
  const held = all.get(name) ?? { sure: undefined, maybe: [] };
  all.set(name, held);
  if (phase === 'sent') return void held.maybe.push(value);
  held.sure = value;
  held.maybe.length = 0;
}
