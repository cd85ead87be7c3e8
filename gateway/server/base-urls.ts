import { nameOfHost } from '../http/links/content-host.ts';
import { listenText, type ListenAddress } from './listen-address.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

type Complain = (problem: string) => void;

interface OtherBases {
  readonly listen: ListenAddress | null;
  readonly publicUrl: string | null;
  readonly hooksUrl: string | null;
}

/** Reads a base URL for links; null if it isn't set. */
export function readBase(name: string, env: NodeJS.ProcessEnv, complain: Complain): string | null {
  const text = env[name] ?? '';
  if (text === '') return null;
  const url = /^https?:\/\//i.test(text) ? parsedUrl(text) : null;
  if (!url || url.username || url.password || url.search || url.hash || url.pathname !== '/') {
    complain(`${name} must look like \`https://svc.example.com\`, with nothing after the host.`);
    return null;
  }
  return url.origin;
}

/**
 * Reads the base URL of links to strangers' content. Its host must be separate, because only then do browsers isolate
 * the content.
 */
export function readContentUrl(
  env: NodeJS.ProcessEnv,
  { listen, publicUrl, hooksUrl }: OtherBases,
  complain: Complain,
): string | null {
  const base = readBase('SVC_CONTENT_URL', env, complain);
  if (base === null) return null;
  const { host, protocol } = new URL(base);
  const ownUrl = publicUrl ?? (listen?.kind === 'tcp' ? listenText(listen, listen.port) : null);
  if (protocol === 'http:' && !isOfThisMachine(host)) {
    complain('SVC_CONTENT_URL must begin with https://, unless its host is this machine.');
  } else if (ownUrl !== null && new URL(ownUrl).protocol !== protocol) {
    complain('SVC_CONTENT_URL must begin with https:// if SVC_PUBLIC_URL does, and only then.');
  }
  const others = { SVC_PUBLIC_URL: ownUrl, SVC_HOOKS_URL: hooksUrl };
  for (const [name, url] of Object.entries(others)) {
    if (url === null || nameOfHost(new URL(url).host) !== nameOfHost(host)) continue;
    complain(
      `SVC_CONTENT_URL has the same host as ${name}. Give it a host of its own: all ports of a host share cookies.`,
    );
  }
  return base;
}

function isOfThisMachine(host: string): boolean {
  const name = nameOfHost(host) ?? '';
  return /^(?:(?:.+\.)?localhost|127\..+|\[::1\])$/.test(name);
}
