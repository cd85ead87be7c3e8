import type { IncomingMessage } from 'node:http';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are, with the Content-Type from `headers`. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long the other side may be silent, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The one typed client between the CLI and a daemon or gateway. */
export interface Client {
  /** The parsed answer; an error answer is thrown as `CallError`. Writes carry a fresh Idempotency-Key. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** The raw answer, whatever its status, for streams and `svc api`. */
  raw(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  /** The key this client sends. */
  readonly apiKey: string;
}
