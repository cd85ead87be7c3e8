import type { Caller } from './context.ts';
import type { Operation } from './operation.ts';

/** How a client presents itself; nothing of it is trusted before `authenticate`. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The header X-Service-Agent. */
  readonly agentHeader: string | undefined;
  readonly userAgent: string | undefined;
  /** The client name of an MCP call. */
  readonly mcpClientName: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
}

/** A checked caller, and the rate headers every answer to it carries. */
export interface Admission {
  readonly caller: Caller;
  readonly rateHeaders: Readonly<Record<string, string>>;
}

/** Where operations run. Bindings know nothing else. */
export interface Executor {
  /** Checks a key, and takes one call from its rate where `metered`. UNAUTHENTICATED, KEY_REVOKED, RATE_LIMITED. */
  authenticate(credentials: Credentials, metered: boolean): Promise<Admission>;
  /** Checks scope and input, runs the operation, and answers after what it wrote is durable. */
  execute(
    operation: Operation,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<unknown>;
}
