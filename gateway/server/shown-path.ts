import { parseApiKey, parseToken } from '../../shared/lib/ids.ts';

const PATH_CHARS_MAX = 200;

/** Returns the path of a request target, without its query. */
export function pathOf(url: string): string {
  // A proxy may send the whole URL.
  const target = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
  const end = url.slice(target.length).search(/[?#]/);
  return (
    (end === -1 ? url.slice(target.length) : url.slice(target.length, target.length + end)) || '/'
  );
}

/**
 * Returns a path for the log. Addresses with one letter, and those that open the web inbox, contain a secret, which
 * it leaves out.
 */
export function shownPath(path: string): string {
  const [, letter] = /^\/+([a-z])\//i.exec(path) ?? [];
  if (letter !== undefined) return `/${letter}/…`;
  const [, page] = /^\/+ui\/+(open|sign-in)\//i.exec(path) ?? [];
  if (page !== undefined) return `/ui/${page}/…`;
  return path.length > PATH_CHARS_MAX ? `${path.slice(0, PATH_CHARS_MAX)}…` : path;
}

/** Returns the project that a key or an address names; null if they name none. It doesn't check the key. */
export function namedProject(path: string, authorization: string | undefined): string | null {
  const key = authorization?.slice('Bearer '.length).trim() ?? '';
  const token = /^\/[a-z]\/([0-9A-Za-z]+)$/.exec(path)?.[1] ?? '';
  const body = /^\/[dlm]\/([0-9a-hjkmnp-tv-z]{16})\//.exec(path)?.[1];
  if (body !== undefined) return `prj_${body}`;
  return (parseApiKey(key) ?? parseToken(token))?.projectId ?? null;
}
