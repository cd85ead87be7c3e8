import type { Caller, Change } from './context.ts';
import type { Operation } from './operation.ts';

/** How a client presents itself; nothing of it is trusted before `authenticate`. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The header X-Service-Agent. */
  readonly agentHeader: string | undefined;
  readonly userAgent: string | undefined;
  /** The header X-Service-Client: the name of an MCP client, told by a daemon that passes its call on. */
  readonly clientName?: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
}

/** What came of a call. */
export interface Answer {
  readonly value: unknown;
  /** After a write: the position of the project that has it. Replicas have it when they are as far. */
  readonly position?: number;
  /** Set where a replica answered. */
  readonly replica?: ReplicaAge;
}

/** How old an answer of a replica may be. */
interface ReplicaAge {
  /** Since the replica was known to have everything, in milliseconds. */
  readonly ageMs: number;
  /** True while the gateway cannot be reached. */
  readonly stale: boolean;
}

/** Somebody who is told of what changes in a project. Its methods never throw. */
export interface Follower {
  /** Null: something changed, and it is not known what. */
  readonly changed: (change: Change | null) => void;
  /** It is told nothing more: its key was revoked, or there is nobody to tell it. */
  readonly ended: (code: 'KEY_REVOKED' | 'UNAVAILABLE') => void;
}

/** Where operations run. Bindings know nothing else. */
export interface Executor {
  /** Checks a key before any body is read. UNAUTHENTICATED, KEY_REVOKED. */
  authenticate(credentials: Credentials): Promise<Caller>;
  /**
   * Takes one call from the rate of the key and returns the headers that tell the rest; RATE_LIMITED, with the same
   * headers, beyond it. Waits are not metered: TOO_MANY_WAITS bounds them.
   */
  meter(caller: Caller): Readonly<Record<string, string>>;
  /** Checks scope and input, runs the operation, and answers after what it wrote is durable. */
  execute(
    operation: Operation,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Answer>;
  /**
   * Tells of every change of the caller's project from now on. Returns what ends that, which may be called more than
   * once. TOO_MANY_WAITS; UNAVAILABLE where nobody here knows of changes at the moment.
   */
  follow(caller: Caller, follower: Follower): Promise<() => void>;
}
