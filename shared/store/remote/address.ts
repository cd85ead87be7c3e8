import { parsedUrl } from '../../lib/urls.ts';

/**
 * The URL in the form that the libSQL client wants: `https:` or `http:`, with a final slash, because without it the
 * client drops the last path segment. `libsql:` means `https:`, or `http:` with `?tls=0`. Errors never include the URL,
 * because it may contain a secret.
 */
export function clientAddress(url: string): string {
  const { protocol, host, pathname, search, hash, username, password } = parse(url);
  if (username || password) {
    throw bad('holds a user name or password; give the token as SVC_DATABASE_TOKEN');
  }
  const tls = new URLSearchParams(search);
  const isPlain = tls.get('tls') === '0';
  tls.delete('tls');
  if (tls.size > 0 || hash) throw bad('may have no parameter but tls=0');
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return `${scheme(protocol, isPlain)}//${host}${path}`;
}

function parse(url: string): URL {
  // The original error quotes the URL, so we don't keep it.
  const parsed = parsedUrl(url);
  if (!parsed) throw bad('is no URL');
  return parsed;
}

function scheme(protocol: string, isPlain: boolean): string {
  if (protocol === 'libsql:') return isPlain ? 'http:' : 'https:';
  if (protocol === 'http:' || (protocol === 'https:' && !isPlain)) return protocol;
  throw bad('must begin with libsql:, https: or http:, and only libsql: may have tls=0');
}

function bad(problem: string): Error {
  return new Error(`SVC_DATABASE_URL ${problem}.`);
}
