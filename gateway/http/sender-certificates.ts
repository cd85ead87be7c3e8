import type { Clock } from '../../shared/lib/clock.ts';
import { CallbackAllow } from '../callbacks/callback-allow.ts';
import { guardedGet } from '../callbacks/guarded-get.ts';
import type { CertificatePlace } from '../../shared/senders/sender.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const KEPT_MS = 12 * 3_600_000;
/** A failure is remembered for a moment, so that a flood of made-up names asks the sender's host rarely. */
const FAILED_MS = 60_000;
const KEPT_MAX = 50;
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

interface CachedCertificate {
  readonly pem: Promise<string | null>;
  until: number;
}

/** The certificates with which senders sign, from the sender's own host. */
export class SenderCertificates {
  readonly #kept = new Map<string, CachedCertificate>();
  readonly #clock: Clock;
  readonly #fetch: (address: string) => Promise<string | null>;

  /** `fetch` reads a small text from a public address; null if there is none. */
  constructor(clock: Clock, fetch: (address: string) => Promise<string | null>) {
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /** The certificate (PEM) that a delivery names; null unless it's at its sender's host. */
  at(address: string, { hosts, path }: CertificatePlace): Promise<string | null> {
    const url = parsedUrl(address);
    const isPlain =
      url !== null && hosts.some((host) => url.href === `https://${host}${url.pathname}`);
    if (!isPlain || !url.pathname.startsWith(path)) return Promise.resolve(null);
    return NAME.test(url.pathname.slice(path.length)) ? this.#get(url.href) : Promise.resolve(null);
  }

  #get(address: string): Promise<string | null> {
    const now = this.#clock.now();
    const known = this.#kept.get(address);
    if (known && now < known.until) return known.pem;
    for (const [name, { until }] of this.#kept) if (until <= now) this.#kept.delete(name);
    // This many names must be made up. The ones we know keep working.
    if (this.#kept.size >= KEPT_MAX) return Promise.resolve(null);
    const kept: CachedCertificate = {
      pem: this.#fetch(address).catch(() => null),
      until: now + FAILED_MS,
    };
    this.#kept.set(address, kept);
    return kept.pem.then((pem) => {
      if (pem !== null) kept.until = now + KEPT_MS;
      return pem;
    });
  }
}

/** Reads a certificate with the checks of callbacks: only public addresses, over https. */
export function certificateReader(
  allow: CallbackAllow = CallbackAllow.none,
): (address: string) => Promise<string | null> {
  const limits = { maxBytes: 32_768, deadlineMs: 5000, accepts: /./ };
  return (address) => guardedGet(address, { allow, ...limits });
}
