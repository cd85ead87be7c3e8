import type { IncomingMessage } from 'node:http';
import { parsedUrl } from '../lib/urls.ts';

/**
 * Why a request names no host or several, or null. A proxy in front may have used a different one than the handlers
 * here.
 */
export function hostProblem({
  url = '/',
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>): string | null {
  if (hostsIn(rawHeaders) > 1) return 'Send one Host header.';
  if (url.startsWith('/')) return null;
  const [, scheme, authority] = /^(https?:)\/\/([^/?#]*)/i.exec(url) ?? [];
  if (scheme === undefined || headers.host === undefined) return null;
  const named = hostOf(scheme, authority ?? '');
  return named !== null && named === hostOf(scheme, headers.host)
    ? null
    : 'The request target and the Host header name different hosts.';
}

function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The host without a default port; null if there's more than a host. */
function hostOf(scheme: string, authority: string): string | null {
  return authority.includes('@') ? null : (parsedUrl(`${scheme}//${authority}`)?.host ?? null);
}
