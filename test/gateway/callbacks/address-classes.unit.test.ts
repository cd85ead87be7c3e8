import * as fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, parseAddress } from '../../../gateway/lib/address-classes.ts';

/** The registries of special addresses, as another reader of ranges knows them: nothing of it is from the product. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const SPECIAL_V6 = [
  // All but 2000::/3.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
];
// One a family: a list of both finds IPv4 in ranges of IPv6.
const specialV4 = new BlockList();
const specialV6 = new BlockList();
for (const range of SPECIAL_V4) {
  const [base = '', bits] = range.split('/');
  specialV4.addSubnet(base, Number(bits));
}
for (const range of SPECIAL_V6) {
  const [base = '', bits] = range.split('/');
  specialV6.addSubnet(base, Number(bits), 'ipv6');
}

function numberOf(address: string): bigint {
  if (isIP(address) === 4) {
    return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  }
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  const groups = address.includes('::') ? [...left, ...zeros, ...right] : left;
  return groups.reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

function v4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

function v6(value: bigint): string {
  const shifts = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n];
  return shifts.map((shift) => ((value >> shift) & 65_535n).toString(16)).join(':');
}

function isSpecial(address: string): boolean {
  const value = numberOf(address);
  if (isIP(address) === 4) return specialV4.check(v4(value));
  const [, , , , fifth, sixth] = v6(value).split(':');
  return specialV6.check(v6(value), 'ipv6') || (sixth === '5efe' && /^(0|200)$/.test(fifth ?? ''));
}

function expectedOf(address: string): string {
  return `${address} is ${isSpecial(address) ? 'special' : 'public'}`;
}

function classOf(address: string): string {
  return `${address} is ${isPublicAddress(address) ? 'public' : 'special'}`;
}

describe('the borders of every special range', () => {
  it.each([...SPECIAL_V4, ...SPECIAL_V6])('%s', (range) => {
    const [base = '', bits] = range.split('/');
    const width = isIP(base) === 4 ? 32n : 128n;
    const text = width === 32n ? v4 : v6;
    const first = numberOf(base);
    const last = first + (1n << (width - BigInt(bits ?? 0))) - 1n;
    for (const inside of [first, first + (last - first) / 2n, last]) {
      expect(classOf(text(inside))).toBe(`${text(inside)} is special`);
    }
    for (const outside of [first - 1n, last + 1n]) {
      if (outside < 0n || outside >= 1n << width) continue;
      expect(classOf(text(outside))).toBe(expectedOf(text(outside)));
    }
  });
});

describe('any address', () => {
  it('of IPv4 is public unless a registry sets it aside', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(classOf(address)).toBe(expectedOf(address));
      }),
      { numRuns: 5000 },
    );
  });

  it('of IPv6 too', () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    // Half of them begin where the public ones do.
    const first = fc.oneof(fc.constantFrom(0x2001, 0x2002, 0x2606, 0x2620, 0x3fff), fc.nat(0xffff));
    fc.assert(
      fc.property(first, groups, (head, [, ...tail]) => {
        const address = [head, ...tail].map((group) => group.toString(16)).join(':');
        expect(classOf(address)).toBe(expectedOf(address));
      }),
      { numRuns: 5000 },
    );
  });

  it('of IPv4 keeps its class when IPv6 wraps it, and has none behind a translator', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address));
        for (const prefix of [
          '::',
          '0::',
          '::0:',
          '64:ff9b::',
          '64:ff9b:1::',
          '::ffff:0:',
          '2002::',
          '2001::',
        ]) {
          expect(classOf(prefix + address)).toBe(`${prefix}${address} is special`);
        }
      }),
    );
  });
});

describe('text', () => {
  it.each([
    '',
    'localhost',
    '8.8.8.8.',
    ' 8.8.8.8',
    '8.8.8.8 ',
    '8.8.8',
    '134744072',
    '0x08080808',
    '010.8.8.8',
    '8.8.8.8/32',
    '8.8.8.8:443',
    '[2606:4700::1111]',
    '2606:4700::1111%eth0',
    '2606:4700::1111::',
    '2606:4700::11111',
    '８.８.８.８',
  ])('%j is no address, and so not public', (text) => {
    expect(parseAddress(text)).toBeNull();
    expect(isPublicAddress(text)).toBe(false);
  });

  it('of an IPv6 address is read as browsers read it', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
        expect(parseAddress(text)).toEqual(parseAddress(plain));
        expect(isPublicAddress(text)).toBe(isPublicAddress(plain));
      }),
      { numRuns: 5000 },
    );
  });

  it('of whatever kind is read or refused, never thrown at', () => {
    const text = fc.oneof(fc.ipV6(), fc.ipV4Extended(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(text, (one) => {
        expect(parseAddress(one) === null).toBe(isIP(one) === 0 || one.includes('%'));
      }),
      { numRuns: 3000 },
    );
  });
});
