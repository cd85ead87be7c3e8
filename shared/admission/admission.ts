import { ServiceError, unavailable } from '../lib/errors.ts';
import { once } from '../lib/once.ts';
import { pluralize } from '../lib/pluralize.ts';
import { Budget, type Full, type Holder, type Share } from './budget.ts';
import { Connections } from './connections.ts';
import {
  BODIES_MAX_BYTES,
  DOOR_LIMITS,
  DOORS,
  HELD_LIMITS,
  IN_LINE_MAX,
  UNREAD_LIMITS,
  type Door,
  type HeldKind,
} from './limits.ts';
import { Lines } from './line.ts';
import { Turns } from './turns.ts';

/** A request, connection or wait that was turned away, for the metrics and the log. */
export interface TurnedAway {
  /** The door, `connection`, `waiting requests`, `bytes to parse`, or the kind of held answer. */
  readonly at: string;
  /** Whose limit was reached, or `slow`: what it sent came too slowly. */
  readonly reason: Full['of'] | 'connection' | 'slow';
  readonly holder: Holder;
}

type OnTurnedAway = (turnedAway: TurnedAway) => void;

const NOBODY: OnTurnedAway = () => undefined;
/** Bodies and connections come and go within seconds. */
const RETRY_SECONDS = 1;
const LONG_RETRY_SECONDS = 5;

/**
 * Decides what the gateway takes on: the bodies, connections, waits and streams that are open at once. Each has a budget
 * with a share for each door, network address, project and key.
 */
export class Admission {
  readonly connections: Connections;
  /** When requests begin. */
  readonly turns = new Turns();
  /** The requests under way, by their ids. */
  readonly #lines = new Lines(IN_LINE_MAX);
  readonly #unread = new Budget('unread answers', UNREAD_LIMITS);
  readonly requests = new Map<string, { stepAside(): void }>();
  readonly #bodies: Readonly<Record<Door, Budget>>;
  readonly #held: Readonly<Record<HeldKind, Budget>>;
  readonly #onTurnedAway: OnTurnedAway;

  private constructor(bodies: Readonly<Record<Door, Budget>>, onTurnedAway: OnTurnedAway) {
    this.#bodies = bodies;
    this.#onTurnedAway = onTurnedAway;
    this.#held = recordOf(Object.keys(HELD_LIMITS) as HeldKind[], (kind) => {
      return new Budget(kind, HELD_LIMITS[kind]);
    });
    this.connections = new Connections((full, holder) => this.refuse(full, holder));
  }

  /** For a gateway with a public address. `onTurnedAway` must be quick and never throw. */
  static hosted(onTurnedAway: OnTurnedAway = NOBODY): Admission {
    const all = new Budget('bodies', { total: BODIES_MAX_BYTES });
    const bodies = recordOf(DOORS, (door) => {
      return new Budget(door, DOOR_LIMITS[door], door === 'mail' ? null : all);
    });
    return new Admission(bodies, onTurnedAway);
  }

  /** For one machine, whose user is the only caller: bodies have no shares, and must fit into memory. */
  static local(): Admission {
    const all = new Budget('bodies', { total: BODIES_MAX_BYTES });
    const mail = new Budget('mail', { total: DOOR_LIMITS.mail.total });
    const bodies = recordOf(DOORS, (door) => (door === 'mail' ? mail : all));
    return new Admission(bodies, NOBODY);
  }

  /** The bytes of bodies in transfer at a door. */
  bodyBytes(door: Door): number {
    return this.#bodies[door].used;
  }

  /** Opens the account of one body. */
  openBody(door: Door, holder: Holder): BodyAccount {
    return new BodyAccount(this.#bodies[door], holder, (full) => this.refuse(full, holder));
  }

  /**
   * Counts an answer that is held open, and returns a function that ends this and may be called repeatedly. TOO_MANY_WAITS for a key, project or
   * session with too many; `retryAfter` tells when one of theirs ends, in seconds, if that is known.
   */
  hold(
    kind: HeldKind,
    holder: Holder,
    retryAfter: (of: Share) => number | null = () => null,
  ): () => void {
    const budget = this.#held[kind];
    const full = budget.take(holder);
    if (full === null) return once(() => budget.give(holder));
    this.#note(full, holder);
    const { of } = full;
    if (of === 'door' || of === 'gateway') throw unavailable(RETRY_SECONDS);
    throw tooMany(full, retryAfter(of));
  }

  /**
   * Counts an answer that waits to be read, and returns a function that ends this. Null if this holder has left too much
   * unread already.
   */
  leaveUnread(bytes: number, holder: Holder): (() => void) | null {
    const full = this.#unread.take(holder, bytes);
    if (full === null) return once(() => this.#unread.give(holder, bytes));
    this.#note(full, holder);
    return null;
  }

  /** A request sleeps until something happens, so it needs no place. */
  asleep(requestId: string): void {
    this.requests.get(requestId)?.stepAside();
  }

  /**
   * Runs long work when no other of its kind runs for this project. It should call `breathe` of its context often.
   * RATE_LIMITED if too many wait for that.
   */
  async alone<T>(
    kind: 'long reads' | 'searches',
    project: string,
    { work, signal }: { readonly work: () => Promise<T>; readonly signal?: AbortSignal },
  ): Promise<T> {
    const leave = await this.#lines.enter(`${kind} ${project}`, signal);
    if (leave === null) {
      const full = { budget: kind, of: 'project', limit: IN_LINE_MAX, used: IN_LINE_MAX } as const;
      this.#note(full, { project });
      throw new ServiceError('RATE_LIMITED', {
        hint: `${IN_LINE_MAX} ${kind} of this project wait already, and one runs at a time: repeat it in ${pluralize(LONG_RETRY_SECONDS, 'second')}.`,
        details: {
          retry_after: LONG_RETRY_SECONDS,
          limit: IN_LINE_MAX,
          used: IN_LINE_MAX,
          of: 'project',
        },
      });
    }
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Records that too many requests wait already, and returns the error: nothing was read, and a repeat may be taken. */
  crowded(full: Full, holder: Holder): ServiceError {
    this.#note(full, holder);
    const { of, limit, used } = full;
    return new ServiceError('UNAVAILABLE', {
      hint: `Too many requests wait here. Repeat it in ${pluralize(RETRY_SECONDS, 'second')}.`,
      details: { retry_after: RETRY_SECONDS, limit, used, of },
      headers: { Connection: 'close' },
    });
  }

  /** Records that a body came too slowly. */
  tooSlow(door: Door, holder: Holder): void {
    this.#onTurnedAway({ at: door, reason: 'slow', holder });
  }

  /** Records that a connection has ended without an answer, because it sent far too much or nothing in time. */
  cutOff({ at, reason }: Pick<TurnedAway, 'at' | 'reason'>, address: string | null): void {
    this.#onTurnedAway({ at, reason, holder: { address } });
  }

  /** Records a refusal, and returns its error. */
  refuse(full: Full, holder: Holder): ServiceError {
    this.#note(full, holder);
    return refusalOf(full);
  }

  #note({ budget, of }: Full, holder: Holder): void {
    this.#onTurnedAway({ at: budget, reason: of, holder });
  }
}

/** The bytes that one body holds: as many as have arrived, whatever its Content-Length says. */
export class BodyAccount {
  readonly #budget: Budget;
  readonly #holder: Holder;
  readonly #refuse: (full: Full) => ServiceError;
  #bytes = 0;

  constructor(budget: Budget, holder: Holder, refuse: (full: Full) => ServiceError) {
    this.#budget = budget;
    this.#holder = holder;
    this.#refuse = refuse;
  }

  /** Makes room for these bytes, or returns why there is none. */
  take(bytes: number): ServiceError | null {
    const full = this.#budget.take(this.#holder, bytes);
    if (full !== null) return this.#refuse(full);
    this.#bytes += bytes;
    return null;
  }

  /** Gives all of it back. */
  close(): void {
    this.#budget.give(this.#holder, this.#bytes);
    this.#bytes = 0;
  }
}

/** UNAVAILABLE if everyone together has reached a limit, RATE_LIMITED if the caller has. */
function refusalOf({ budget, of, limit, used }: Full): ServiceError {
  const isShared = of === 'door' || of === 'gateway';
  const what = budget === 'connection' ? 'open connections' : 'bytes of bodies in transfer';
  return new ServiceError(isShared ? 'UNAVAILABLE' : 'RATE_LIMITED', {
    hint: isShared
      ? `Repeat it in ${pluralize(RETRY_SECONDS, 'second')}.`
      : `This ${of} has ${used} of ${limit} ${what}: repeat it in ${pluralize(RETRY_SECONDS, 'second')}.`,
    details: { retry_after: RETRY_SECONDS, limit, used, of },
    // We don't read the rest of a refused body, so its connection can't serve another request.
    headers: { Connection: 'close' },
  });
}

function tooMany({ budget, of, limit, used }: Full, seconds: number | null): ServiceError {
  const repeat = seconds === null ? '' : `, or repeat in ${pluralize(seconds, 'second')}`;
  return new ServiceError('TOO_MANY_WAITS', {
    hint: `${used} of ${limit} ${budget} of this ${of} are open: let one end first${repeat}.`,
    details: { kind: of, limit, used, ...(seconds !== null && { retry_after: seconds }) },
  });
}

function recordOf<K extends string, V>(keys: readonly K[], of: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;
}
