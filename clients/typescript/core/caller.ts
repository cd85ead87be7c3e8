/** What a call sends. */
export interface CallerOptions {
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with the Content-Type from `headers`. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** How long the other side may be silent, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Makes one call. The command has its own way to a socket, so it brings its own caller. */
export interface Caller {
  /** Returns the parsed answer; throws an error answer as an `SvcError` with its status. */
  send(method: string, path: string, options?: CallerOptions): Promise<unknown>;
  /** Null if calls go to this machine's daemon. */
  readonly gateway: URL | null;
}
