/** How one call is made; each setting replaces the client's own. */
export interface CallOptions {
  /** Ends the call and its retries. */
  readonly signal?: AbortSignal | undefined;
  /** How long a try may take, in milliseconds (default 30 s; waits get their own time on top). */
  readonly timeout?: number | undefined;
  /** How often a call is tried again that failed only for now (default 3). */
  readonly maxRetries?: number | undefined;
  /** The Idempotency-Key of a write; all its tries share one in any case. */
  readonly idempotencyKey?: string | undefined;
}

/** Where an operation is called, and where its fields go. */
export interface Endpoint {
  readonly method: string;
  /** `/v1/keys/{id}`; the last parameter may contain `/`. */
  readonly path: string;
  /** Maps path parameters to fields with other names. */
  readonly params?: Readonly<Record<string, string>>;
  /** The whole body is one field. */
  readonly body?: {
    readonly field: string;
    readonly as: string;
    readonly typeField?: string;
    readonly query?: readonly string[];
    readonly objectType?: string;
  };
  /** A write, which takes an Idempotency-Key. */
  readonly isWrite?: boolean;
  /** The field with how long the call waits. */
  readonly seconds?: string;
}

/** Calls an operation. */
export type RunOperation = <T>(
  endpoint: Endpoint,
  input: object,
  options?: CallOptions,
) => Promise<T>;
