import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type { HttpEnv } from '../../shared/api/http.ts';
import type { AddressRanges } from './address-ranges.ts';

/** The peer of a unix socket: a program on this machine, without an address. */
const UNIX_PEER = 'unix';
/** The peer of a connection that has ended. */
const UNKNOWN_PEER = 'unknown';
/** Headers that proxies add to a request. */
const FORWARDING = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];
/** The maximum number of proxies in a chain. */
const HOPS_MAX = 16;

/** The kind of socket of a connection. */
type Kind = 'tcp' | 'unix';

/**
 * The client's address. In the hosted process it looks behind trusted proxies; otherwise it is the connection's peer.
 */
export function clientAddress(c: Context<HttpEnv>): string {
  return c.env.visit?.clientAddress ?? peerAddress(c.env.incoming, 'tcp');
}

/**
 * The address behind trusted proxies. Each proxy appends its caller to X-Forwarded-For, so this reads the list from
 * the end: the first address that isn't a trusted proxy is the client. Anyone could have written the entries before
 * it.
 */
export function addressBehind(
  request: IncomingMessage,
  { kind, trusted }: { readonly kind: Kind; readonly trusted: AddressRanges },
): string {
  const peer = peerAddress(request, kind);
  if (peer !== UNIX_PEER && !trusted.has(peer)) return peer;
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded === undefined) return peer;
  let nearest = peer;
  // Node joins repeated headers with commas.
  for (const entry of String(forwarded).split(',').slice(-HOPS_MAX).toReversed()) {
    const address = withoutPort(entry.trim());
    if (address === null) return nearest;
    nearest = address;
    if (!trusted.has(address)) return address;
  }
  return nearest;
}

/** The network address of a connection's peer; null for a trusted proxy, which speaks for many clients. */
export function directNetwork(
  socket: Socket,
  { kind, trusted }: { readonly kind: Kind; readonly trusted: AddressRanges },
): string | null {
  const peer = peerAddress({ socket }, kind);
  return peer === UNIX_PEER || trusted.has(peer) ? null : networkOf(peer);
}

/** The peer that wrote X-Forwarded-For although it isn't a trusted proxy; null if there is none. */
export function untrustedForwarder(
  request: IncomingMessage,
  { kind, trusted }: { readonly kind: Kind; readonly trusted: AddressRanges },
): string | null {
  if (request.headers['x-forwarded-for'] === undefined) return null;
  const peer = peerAddress(request, kind);
  return peer === UNIX_PEER || peer === UNKNOWN_PEER || trusted.has(peer) ? null : peer;
}

/** True for a request from this machine that came without a proxy. */
export function isDirectFromHere(request: IncomingMessage, kind: Kind): boolean {
  if (FORWARDING.some((name) => name in request.headers)) return false;
  const peer = peerAddress(request, kind);
  return peer === UNIX_PEER || peer === '::1' || peer.startsWith('127.');
}

/** One subscriber owns a whole IPv6 /64, so it counts as one address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return ipaddr.IPv6.parse(address.replace(/%.*$/, ''))
    .toNormalizedString()
    .split(':', 4)
    .join(':');
}

/** The connection's peer; an IPv4 peer of an IPv6 socket is written as IPv4. */
function peerAddress({ socket }: Pick<IncomingMessage, 'socket'>, kind: Kind): string {
  if (kind === 'unix') return UNIX_PEER;
  return plainAddress(socket.remoteAddress ?? UNKNOWN_PEER);
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/**
 * Removes the port that some proxies write: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Null for text that isn't an
 * address.
 */
function withoutPort(text: string): string | null {
  const [, inBrackets, plain] =
    /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = inBrackets ?? plain ?? text;
  return isIP(address) === 0 ? null : plainAddress(address);
}
