import type { IncomingMessage } from 'node:http';

/** Whom a request asks. `both`: it names this host and another one, so that a proxy may have taken it for either. */
type Asked = 'content' | 'both' | 'other';

/** The host of `SVC_CONTENT_URL`: what strangers wrote is there, and nothing that it could reach. */
export class ContentHost {
  readonly origin: string;
  readonly #name: string | null;

  /** Takes an address without a slash at the end. */
  constructor(origin: string) {
    this.origin = origin;
    this.#name = nameOfHost(new URL(origin).host);
  }

  askedBy(request: IncomingMessage): Asked {
    const hosts = hostsOf(request).map(nameOfHost);
    if (!hosts.includes(this.#name)) return 'other';
    return hosts.every((host) => host === this.#name) ? 'content' : 'both';
  }
}

/** All that a request says of its host: a target may be a whole address, and the header may stand there twice. */
function hostsOf({ url = '', headersDistinct }: IncomingMessage): string[] {
  const target = /^https?:\/\/([^/?#\\]*)/i.exec(url)?.[1];
  return [...(target === undefined ? [] : [target]), ...(headersDistinct['host'] ?? [])];
}

/** As a browser reads it, without the port, which proxies leave out, and the dot that ends a whole name. */
export function nameOfHost(host: string): string | null {
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') : null;
}
