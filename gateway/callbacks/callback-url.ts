import { isIP } from 'node:net';
import { ServiceError } from '../../shared/lib/errors.ts';
import { hasControl } from '../../shared/lib/text.ts';
import { isPublicAddress } from '../lib/address-classes.ts';
import { CallbackAllow } from './callback-allow.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const URL_MAX_CHARS = 2048;
const PORT_FREE_MIN = 1024;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** At least two labels: the resolver may complete a single label, or it means a machine in the local network. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/;
const SINGLE_LABEL = /^[a-z0-9_-]{1,63}$/;
/** Endings that have a meaning only in a local network, including those of clouds, containers and home routers. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa)$/;

/** A URL that may be called, as far as we can tell without asking a resolver. */
export interface CallbackUrl {
  readonly url: URL;
  /** A name, or an address without brackets. */
  readonly host: string;
  /** `host:port`, in one canonical form. */
  readonly destination: string;
  /** Why only addresses in the allow list will do, as a sentence; null if public ones will do too. */
  readonly exception: string | null;
}

/**
 * Reads a callback URL; throws CALLBACK_URL_REJECTED with the reason as hint. The addresses of its host name must still
 * be checked (`checkHost`). If there is an allow list, a name may pass with an `exception`.
 */
export function parseCallbackUrl(
  text: string,
  allow: CallbackAllow = CallbackAllow.none,
): CallbackUrl {
  const url = readUrl(text);
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port || String(url.protocol === 'https:' ? HTTPS_PORT : HTTP_PORT);
  const exception = exceptionOf(url, host);
  if (exception !== null && !mayBeAllowed(host, allow)) throw rejected(exception);
  return { url, host, destination: `${url.hostname}:${port}`, exception };
}

/** The error for a rejected callback URL. */
export function rejected(reason: string): ServiceError {
  return new ServiceError('CALLBACK_URL_REJECTED', { hint: reason });
}

/** Rejects everything that another URL parser might read differently; no allow list changes that. */
function readUrl(text: string): URL {
  if (text.length > URL_MAX_CHARS) throw rejected(tooLong());
  if (hasControl(text) || /[\s\\]/.test(text)) {
    throw rejected('The URL holds white space, a control character or a backslash.');
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw rejected('The URL must begin with https:// and a host.');
  if (authority.includes('@')) {
    throw rejected('The URL holds a user name or password: the signature says who is calling.');
  }
  if (text.includes('#')) throw rejected('The URL has a fragment (#), which is never sent.');
  const url = parsedUrl(text);
  if (!url) throw rejected('The URL has a host or port that cannot be read.');
  // Encoding characters made it longer.
  if (url.href.length > URL_MAX_CHARS) throw rejected(tooLong());
  if (url.port === '0') throw rejected('Nothing can be reached on port 0.');
  checkSpelling(url.hostname);
  return url;
}

function tooLong(): string {
  return `The URL is longer than ${URL_MAX_CHARS} characters.`;
}

function checkSpelling(host: string): void {
  if (host.startsWith('[')) return;
  if (host.endsWith('.')) throw rejected('The host ends with a dot: leave it out.');
  if (!HOST_NAME.test(host) && !SINGLE_LABEL.test(host)) {
    throw rejected('The host is not a name such as hooks.example.com.');
  }
}

/** Why a URL is rejected unless its addresses are in the allow list. */
function exceptionOf(url: URL, host: string): string | null {
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) return 'The address in the URL is not public.';
  } else if (SINGLE_LABEL.test(host) || LOCAL_NAME.test(host)) {
    return 'The host is a name that only a local network knows.';
  }
  if (url.protocol !== 'https:') return 'The URL must begin with https://.';
  if (url.port !== '' && Number(url.port) < PORT_FREE_MIN) {
    return `The port must be ${HTTPS_PORT}, or ${PORT_FREE_MIN} and above.`;
  }
  return null;
}

/** Looks up names first if an allow list could permit them. */
function mayBeAllowed(host: string, allow: CallbackAllow): boolean {
  return isIP(host) === 0 ? !allow.isEmpty : allow.has(host);
}
