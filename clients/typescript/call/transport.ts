/** One request, ready to send. */
interface Exchange {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

/** An answer, read to its end. */
export interface Answered {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
}

/** Sends a request. Rejects if nothing answers; any status is an answer. */
export type Transport = (exchange: Exchange) => Promise<Answered>;

type Fetch = typeof globalThis.fetch;

/** Sends to a gateway. */
export function fetchTransport(base: URL, fetch: Fetch): Transport {
  const prefix = base.origin + base.pathname.replace(/\/+$/, '');
  return async ({ path, method, headers, body, signal }) => {
    // A redirect would send the key to another place.
    const options = { method, headers, signal, redirect: 'manual' } as const;
    const response = await fetch(
      prefix + path,
      body === undefined ? options : { ...options, body },
    );
    const text = await response.text();
    return { status: response.status, header: (name) => response.headers.get(name), text };
  };
}
