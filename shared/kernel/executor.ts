import type { Caller, Change } from './context.ts';
import type { McpAddress } from './mcp-address.ts';
import type { Operation } from './operation.ts';

/** How a client identifies itself; don't trust any of it before `authenticate`. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The header X-Service-Agent. */
  readonly agentHeader: string | undefined;
  readonly userAgent: string | undefined;
  /** The header X-Service-Client: an MCP client's name, sent by the daemon that passes the call on. */
  readonly clientName?: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  /** The address of a call over MCP; undefined for any other call. */
  readonly mcp?: McpAddress | undefined;
}

/** The result of a call. */
export interface Answer {
  readonly value: unknown;
  /** After a write: the project position that includes it. A replica has the write once it reaches that position. */
  readonly position?: number;
  /** Whether an earlier call under the same Idempotency-Key made the write. */
  readonly replayed?: boolean;
  /** Set if a replica answered. */
  readonly replica?: ReplicaAge;
}

/** How old a replica's answer may be. */
interface ReplicaAge {
  /** Milliseconds since the replica was known to be complete. */
  readonly ageMs: number;
  /** Whether the gateway is unreachable. */
  readonly stale: boolean;
}

/** Gets a project's changes. Its methods never throw. */
export interface Follower {
  /** Null means something changed, but it's unknown what. */
  readonly changed: (change: Change | null) => void;
  /** No more changes will come: the key was revoked, or changes aren't available. */
  readonly ended: (code: 'KEY_REVOKED' | 'UNAVAILABLE') => void;
}

/** Runs operations. Bindings know nothing else. */
export interface Executor {
  /** Checks a key before the body is read. Throws UNAUTHENTICATED or KEY_REVOKED. */
  authenticate(credentials: Credentials): Promise<Caller>;
  /**
   * Counts one call against the key's rate limit and returns the headers with what's left. Above the limit it throws
   * RATE_LIMITED with the same headers. Waits aren't counted: TOO_MANY_WAITS limits them.
   */
  meter(caller: Caller): Readonly<Record<string, string>>;
  /** Checks scope and input, runs the operation, and answers once its writes are durable. */
  execute(
    operation: Operation,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Answer>;
  /**
   * Reports every change of the caller's project from now on. Returns a function that stops this and may be called
   * repeatedly. Throws TOO_MANY_WAITS, or UNAVAILABLE if this executor can't see changes at the moment.
   */
  follow(caller: Caller, follower: Follower): Promise<() => void>;
}
