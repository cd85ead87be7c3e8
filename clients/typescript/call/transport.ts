import { deadline } from '../../../shared/lib/deadline.ts';

/** One request, ready to send. */
interface Exchange {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  /** How long the other side may be silent. */
  readonly timeoutMs: number;
}

/** An answer whose headers are here. */
export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** Reads it to its end. */
  readonly text: () => Promise<string>;
}

/**
 * Sends a request; any status is an answer. Rejects with what the network says if nothing answers, and with a
 * `TimeoutError` if nothing comes in time.
 */
export type Transport<A extends Answer = Answer> = (exchange: Exchange) => Promise<A>;

type Fetch = typeof globalThis.fetch;

/** Sends to a gateway: with fetch, which keeps connections; on this machine without, as a program starts it slowly. */
export async function gatewayTransport(gateway: URL, fetch?: Fetch): Promise<Transport> {
  const isHere = gateway.protocol === 'http:' && isLoopback(gateway.hostname);
  if (fetch || !isHere) return fetchTransport(gateway, fetch ?? globalThis.fetch);
  const { nodeTransport } = await import('../node/node-transport.ts');
  return nodeTransport(gateway);
}

/** Whether a URL's host is this machine, so that nothing crosses the network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function fetchTransport(base: URL, fetch: Fetch): Transport {
  const prefix = base.origin + base.pathname.replace(/\/+$/, '');
  return async ({ path, method, headers, body, signal, timeoutMs }) => {
    const timeout = deadline(Math.max(1, Math.ceil(timeoutMs)));
    const response = await fetch(prefix + path, {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // A redirect would send the key to another place.
      redirect: 'manual',
      ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }),
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      text: () => response.text(),
    };
  };
}
