import type { IncomingHttpHeaders } from 'node:http';

/** How a request came in. */
export type Access = { readonly kind: 'socket' } | { readonly kind: 'tcp'; readonly port: number };

/** Why a request is refused: the header to blame and a sentence for its sender. */
export interface Refusal {
  readonly header: string;
  readonly reason: string;
}

interface GuardedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Webhooks, uploads, links and the pages for people come through tunnels under a public name. No character here lets a
 * path normalise into another one, so the exemption cannot be carried to the API.
 */
const SENT_TO = /^\/(?:[wu]\/[0-9A-Za-z]+|telegram\/updates)(?:\?|$)/;
const LINK = /^\/[lfd]\/[\w/-]+(?:\?|$)/;
/** Links to them are opened from mail programs on the web. They look themselves at who sends their forms. */
const PAGE = /^\/[ac]\/[0-9A-Za-z]+(?:\?|$)/;
/** The web inbox: never under a foreign name. Its links are opened from mail programs, and its forms tell no origin. */
const INBOX = /^\/ui(?:\/[\w-]+)*(?:\/(?:style\.css|script\.js))?(?:\?|$)/;

/**
 * Keeps web pages out of the local daemon. A page can make a browser on this machine send requests
 * to loopback, also under a name of its own (DNS rebinding): every sign of that is refused.
 */
export function refusal(request: GuardedRequest, access: Access): Refusal | null {
  const { headers, url } = request;
  if (access.kind === 'socket') {
    return headers.origin === undefined
      ? null
      : refused('Origin', "Web pages can't call this socket.");
  }
  if (PAGE.test(url)) return null;
  const hosts = ownHosts(access.port);
  const link = LINK.test(url);
  if (!link && !SENT_TO.test(url) && !hosts.has((headers.host ?? '').toLowerCase())) {
    return refused(
      'Host',
      `Call this daemon as 127.0.0.1:${access.port} or localhost:${access.port}.`,
    );
  }
  // It looks itself at who sends its forms, and its cookie comes with no page of others.
  if (INBOX.test(url)) return null;
  if (headers.origin !== undefined && !isOwn(headers.origin, hosts)) {
    return refused('Origin', "Web pages from other origins can't call this daemon.");
  }
  // A link carries its own proof and may be clicked from any page.
  return link ? null : foreignPage(headers, hosts);
}

function foreignPage(headers: IncomingHttpHeaders, hosts: ReadonlySet<string>): Refusal | null {
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    return refused('Sec-Fetch-Site', "Web pages from other sites can't call this daemon.");
  }
  if (headers.referer !== undefined && !isOwn(headers.referer, hosts)) {
    return refused('Referer', "Web pages from other origins can't call this daemon.");
  }
  return null;
}

function refused(header: string, reason: string): Refusal {
  return { header, reason };
}

/** Names by port, made once: every request asks. */
const hostsOfPort = new Map<number, ReadonlySet<string>>();

function ownHosts(port: number): ReadonlySet<string> {
  let hosts = hostsOfPort.get(port);
  if (!hosts) {
    hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]);
    hostsOfPort.set(port, hosts);
  }
  return hosts;
}

/** True for an http address of this listener. `null`, the origin of a sandboxed page, is none. */
function isOwn(address: string, hosts: ReadonlySet<string>): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, host } = new URL(address);
  return protocol === 'http:' && hosts.has(host);
}
