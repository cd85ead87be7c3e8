import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All of the public IPv6 internet. What lies outside is local, or wraps an IPv4 address that nobody has checked. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Azure's metadata: public by its number, but answered by the machine's own host. */
const AZURE_HOST = '168.63.129.16';
/** `::8.8.8.8` is an IPv6 address of its own, and the form in which resolvers write it. */
const COMPATIBLE = /^::(?=\d+\.)/;

/**
 * An address from its usual text: IPv4 also where IPv6 only wraps it (`::ffff:127.0.0.1`). Null for anything else, and for
 * an address with a zone (`fe80::1%eth0`), which means something on this machine only.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js alone reads `127.1` and `0x7f000001` as well.
  if (isIP(text) === 0 || text.includes('%') || !ipaddr.isValid(text)) return null;
  // It also takes `::8.8.8.8` for `::ffff:8.8.8.8`, unless a group stands between.
  return ipaddr.process(text.replace(COMPATIBLE, '::0:'));
}

/**
 * True for an address that means the same host wherever it is called from. False for every special range, for text that is
 * no address, and for IPv6 that a translator or a tunnel could turn into an IPv4 address within.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  // What has no special range is `unicast`.
  if (address === null || address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return address.toString() !== AZURE_HOST;
  return address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

/** ISATAP writes an IPv4 address into the lower half, after `5efe`, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
