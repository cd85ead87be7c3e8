import type { IncomingMessage } from 'node:http';
import { parsedUrl } from '../../../shared/lib/urls.ts';

/** The host that a request asks for. `both`: it names this host and another one, so a proxy may have read either. */
type RequestedHost = 'content' | 'both' | 'other';

/** The host of `SVC_CONTENT_URL`. It serves only strangers' content, and nothing that this content could attack. */
export class ContentHost {
  readonly origin: string;
  readonly #name: string | null;

  /** `origin` has no slash at the end. */
  constructor(origin: string) {
    this.origin = origin;
    this.#name = nameOfHost(new URL(origin).host);
  }

  askedBy(request: IncomingMessage): RequestedHost {
    const hosts = hostsOf(request).map(nameOfHost);
    if (!hosts.includes(this.#name)) return 'other';
    return hosts.every((host) => host === this.#name) ? 'content' : 'both';
  }
}

/** Returns every host that a request names: its target may be a whole URL, and its Host header may occur twice. */
function hostsOf({ url = '', headersDistinct }: IncomingMessage): string[] {
  const target = /^https?:\/\/([^/?#\\]*)/i.exec(url)?.[1];
  return [...(target === undefined ? [] : [target]), ...(headersDistinct['host'] ?? [])];
}

/** Normalizes a host as a browser does, without the port, which proxies may omit, and without a final dot. */
export function nameOfHost(host: string): string | null {
  return parsedUrl(`http://${host}`)?.hostname.replace(/\.$/, '') ?? null;
}
