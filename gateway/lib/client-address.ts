import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Context } from 'hono';
import type { HttpEnv } from '../../shared/api/http.ts';
import type { AddressRanges } from './address-ranges.ts';

/** The peer of a unix socket, which has no address: a program of this machine. */
const UNIX_PEER = 'unix';
/** The peer of a connection that has ended. */
const UNKNOWN_PEER = 'unknown';
/** What proxies add to a request. */
const FORWARDING = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];
/** So many proxies are looked behind. */
const HOPS_MAX = 16;

/** What a connection came in by. */
type Kind = 'tcp' | 'unix';

/**
 * The address of whoever sent a request: seen through the proxies that are trusted where the hosted process serves it, and
 * the other end of the connection otherwise.
 */
export function clientAddress(c: Context<HttpEnv>): string {
  return c.env.visit?.clientAddress ?? peerAddress(c.env.incoming, 'tcp');
}

/**
 * The address behind trusted proxies. Each of them adds to X-Forwarded-For whom it was called by, so the list is read from
 * its end: the first address that is no trusted proxy is the client. What stands before it anybody may have written.
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
  // Repeated headers are joined by Node with commas.
  for (const entry of String(forwarded).split(',').slice(-HOPS_MAX).toReversed()) {
    const address = withoutPort(entry.trim());
    if (address === null) return nearest;
    nearest = address;
    if (!trusted.has(address)) return address;
  }
  return nearest;
}

/** True for a request that was made on this very machine, and that no proxy has passed on. */
export function isDirectFromHere(request: IncomingMessage, kind: Kind): boolean {
  if (FORWARDING.some((name) => name in request.headers)) return false;
  const peer = peerAddress(request, kind);
  return peer === UNIX_PEER || peer === '::1' || peer.startsWith('127.');
}

/** The other end of the connection, an IPv4 address in its own form also where the socket is an IPv6 one. */
function peerAddress({ socket }: IncomingMessage, kind: Kind): string {
  if (kind === 'unix') return UNIX_PEER;
  return plainAddress(socket.remoteAddress ?? UNKNOWN_PEER);
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Null for what is no address. */
function withoutPort(text: string): string | null {
  const [, inBrackets, plain] =
    /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = inBrackets ?? plain ?? text;
  return isIP(address) === 0 ? null : plainAddress(address);
}
