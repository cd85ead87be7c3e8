import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseAddress } from './address-classes.ts';

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Invalid ranges; each problem is a sentence that names the setting. */
export class AddressRangesError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.name = 'AddressRangesError';
    this.problems = problems;
  }
}

/** A set of addresses, written as CIDRs. */
export class AddressRanges {
  readonly #ranges: readonly Range[];

  private constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
  }

  /**
   * Parses CIDRs separated by commas; empty text gives an empty set. Throws an `AddressRangesError` that lists all
   * invalid ones.
   */
  static parse(text: string, setting: string): AddressRanges {
    const ranges: Range[] = [];
    const problems: string[] = [];
    for (const item of text.trim() === '' ? [] : text.split(',').map((part) => part.trim())) {
      const range = readRange(item);
      if (typeof range === 'string') problems.push(`${setting}: \`${item}\` ${range}.`);
      else ranges.push(range);
    }
    if (problems.length > 0) throw new AddressRangesError(problems);
    return new AddressRanges(ranges);
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  /** False for text that isn't an address. */
  has(text: string): boolean {
    if (this.isEmpty) return false;
    const address = parseAddress(text);
    if (address === null) return false;
    return this.#ranges.some(
      ([base, bits]) => base.kind() === address.kind() && address.match(base, bits),
    );
  }
}

/** Returns the range, or the problem with its text. */
function readRange(text: string): Range | string {
  const [, base = '', digits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(base);
  if (address === null) return 'is not a range of addresses such as `127.0.0.0/8` or `::1/128`';
  // The parser would read it as IPv4, so its bits would count from another start.
  if (isIP(base) === 6 && address.kind() === 'ipv4') return 'wraps an IPv4 range: write that one';
  const bits = Number(digits);
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128;
  if (bits > bitsMax) return `has more than ${bitsMax} bits`;
  const first = firstOf(address, bits);
  // The author meant either one address or the whole range.
  if (first !== address.toString())
    return `does not begin its range, which is \`${first}/${bits}\``;
  return [address, bits];
}

function firstOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString();
}
