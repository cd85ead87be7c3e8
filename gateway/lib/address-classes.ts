import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All of the public IPv6 internet. Other addresses are local, or wrap an IPv4 address that nobody has checked. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Azure's metadata service: a public address, but the machine's own host answers it. */
const AZURE_HOST = '168.63.129.16';
/** `::8.8.8.8` is a separate IPv6 address, and resolvers write it in this form. */
const COMPATIBLE = /^::(?=\d+\.)/;

/**
 * Parses an address; returns IPv4 for a wrapped one (`::ffff:127.0.0.1`). Null for any other text, and for an address
 * with a zone (`fe80::1%eth0`), because a zone has a meaning only on this machine.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js alone would also accept `127.1` and `0x7f000001`.
  if (isIP(text) === 0 || text.includes('%') || !ipaddr.isValid(text)) return null;
  // It also reads `::8.8.8.8` as `::ffff:8.8.8.8`, unless a group stands between.
  return ipaddr.process(text.replace(COMPATIBLE, '::0:'));
}

/**
 * True for an address that means the same host everywhere. False for every special range, for text that isn't an
 * address, and for IPv6 that a translator or tunnel could turn into an embedded IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  // ipaddr.js calls an address outside all special ranges `unicast`.
  if (address === null || address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return address.toString() !== AZURE_HOST;
  return address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

/** ISATAP puts an IPv4 address into the lower half, after `5efe`, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
