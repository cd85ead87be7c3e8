import { isLoopback } from '../../clients/typescript/call/transport.ts';
import { usageError } from '../errors.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const EXAMPLE = 'For example: --gateway https://svc.example.com';

/**
 * The gateway's base address from what the user typed. Without a scheme it's https; http is allowed only to this
 * machine or with consent. Keeps a path, for a gateway behind a proxy. Throws a usage error.
 */
export function gatewayAddress(typed: string, { insecure }: { readonly insecure: boolean }): URL {
  const url = parsed(typed.trim());
  if (!url) throw usageError(`"${typed}" isn't a gateway address.`, EXAMPLE);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usageError(
      'A gateway address has no user, query or fragment.',
      `Write it as: --gateway ${url.origin}${url.pathname}`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecure) {
    throw usageError(
      `Over http your key would cross the network unencrypted.`,
      `Try: --gateway https://${url.host}. If you trust the network: --insecure`,
    );
  }
  // The /v1 that REST clients are given isn't part of the base address.
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

/** The address as it's stored and shown. */
export function addressText(url: URL): string {
  return url.origin + url.pathname.replace(/\/$/, '');
}

function parsed(text: string): URL | null {
  const bare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const host = parsedUrl(`http://${text}`)?.hostname ?? '';
  const whole = bare ? `${isLoopback(host) ? 'http' : 'https'}://${text}` : text;
  const url = text === '' ? null : parsedUrl(whole);
  if (!url) return null;
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
}
