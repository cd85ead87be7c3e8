import type { IncomingHttpHeaders } from 'node:http';
import { parsedUrl } from '../shared/lib/urls.ts';

/** The listener that received a request. */
export type Access = { readonly kind: 'socket' } | { readonly kind: 'tcp'; readonly port: number };

/** Why the guard refuses a request: the header at fault, and a sentence for the sender. */
export interface Refusal {
  readonly header: string;
  readonly reason: string;
}

interface GuardedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Webhooks, uploads, links and pages for people arrive through tunnels, with a public host name. These patterns allow
 * no character that lets a path normalise into another one, so nobody can extend the exemption to the API.
 */
const SENT_TO = /^\/(?:[wu]\/[0-9A-Za-z]+|telegram\/updates)(?:\?|$)/;
const LINK = /^\/[lfd]\/[\w/-]+(?:\?|$)/;
/** People open these pages from web mail. The pages themselves check where their forms come from. */
const PAGE = /^\/[ac]\/[0-9A-Za-z]+(?:\?|$)/;
/** The web inbox never answers to a foreign host name. People open its links from mail; its forms send no origin. */
const INBOX =
  /^\/ui(?:\/[\w-]+)*(?:\/(?:style\.css|script\.js|push\.js|icon\.png|manifest\.webmanifest))?(?:\?|$)/;

/**
 * Keeps web pages out of the local daemon. A page can make a browser on this machine send requests to loopback, even
 * under the page's own host name (DNS rebinding): the guard refuses every sign of that.
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
  // The inbox checks where its forms come from, and browsers don't send its cookie from other sites.
  if (INBOX.test(url)) return null;
  if (headers.origin !== undefined && !isOwn(headers.origin, hosts)) {
    return refused('Origin', "Web pages from other origins can't call this daemon.");
  }
  // A link carries its own proof, so people may click it on any page.
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

/** Cached, because every request asks. */
const hostsOfPort = new Map<number, ReadonlySet<string>>();

function ownHosts(port: number): ReadonlySet<string> {
  let hosts = hostsOfPort.get(port);
  if (!hosts) {
    hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]);
    hostsOfPort.set(port, hosts);
  }
  return hosts;
}

/** True for an http address of this listener. `null`, the origin of a sandboxed page, isn't one. */
function isOwn(address: string, hosts: ReadonlySet<string>): boolean {
  const url = parsedUrl(address);
  if (!url) return false;
  const { protocol, host } = url;
  return protocol === 'http:' && hosts.has(host);
}
