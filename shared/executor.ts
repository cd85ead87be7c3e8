import type { Caller } from './context.ts';
import type { Operation } from './operation.ts';

/** How a client presents itself; nothing of it is trusted before `authenticate`. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The header X-Service-Agent. */
  readonly agentHeader: string | undefined;
  readonly userAgent: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
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
  ): Promise<unknown>;
}
