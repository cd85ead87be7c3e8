import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AddressRanges } from '../../../gateway/lib/address-ranges.ts';
import {
  addressBehind,
  isDirectFromHere,
  untrustedForwarder,
} from '../../../gateway/lib/client-address.ts';

const PROXIES = AddressRanges.parse('127.0.0.0/8,::1/128,10.0.0.0/8,2001:db8:1::/48', 'TEST');

/** What the two functions read of a request. */
function request(peer: string | undefined, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
}

function behind(
  peer: string | undefined,
  forwarded?: string,
  kind: 'tcp' | 'unix' = 'tcp',
): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return addressBehind(request(peer, headers), { kind, trusted: PROXIES });
}

function forwarder(
  peer: string | undefined,
  forwarded?: string,
  kind: 'tcp' | 'unix' = 'tcp',
): string | null {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return untrustedForwarder(request(peer, headers), { kind, trusted: PROXIES });
}

/** A client behind so many proxies. */
const hops = (count: number): string => `192.0.2.7${', 10.0.0.1'.repeat(count)}`;

describe('the address of a client', () => {
  it.each([
    ['no proxy', '192.0.2.7', undefined, '192.0.2.7'],
    ['a stranger who claims to be another', '192.0.2.7', '203.0.113.9', '192.0.2.7'],
    ['one proxy', '127.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['a proxy, and a client who claims more', '127.0.0.1', '198.51.100.1, 192.0.2.7', '192.0.2.7'],
    ['two proxies', '127.0.0.1', '198.51.100.1, 192.0.2.7, 10.1.2.3', '192.0.2.7'],
    ['nobody but proxies', '127.0.0.1', '10.0.0.9, 10.1.2.3', '10.0.0.9'],
    ['a proxy without the header', '127.0.0.1', undefined, '127.0.0.1'],
    ['an empty header', '127.0.0.1', '', '127.0.0.1'],
    ['no address before a proxy', '127.0.0.1', '192.0.2.7, unknown, 10.1.2.3', '10.1.2.3'],
    ['an IPv4 address in an IPv6 socket', '::ffff:127.0.0.1', '::ffff:192.0.2.7', '192.0.2.7'],
    ['IPv6', '2001:db8:1::5', '2001:db8:2::9', '2001:db8:2::9'],
    ['ports', '127.0.0.1', '[2001:db8:2::9]:4711, 10.1.2.3:80', '2001:db8:2::9'],
    ['a port behind IPv4', '127.0.0.1', '192.0.2.7:51234', '192.0.2.7'],
    ['a connection that has ended', undefined, '203.0.113.9', 'unknown'],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(behind(peer, forwarded)).toBe(expected);
  });

  it('over a unix socket is what the proxy says, which is one of this machine', () => {
    expect(behind(undefined, '192.0.2.7', 'unix')).toBe('192.0.2.7');
    expect(behind(undefined, undefined, 'unix')).toBe('unix');
  });

  it('is looked for behind 16 proxies and no more', () => {
    expect(behind('127.0.0.1', hops(15))).toBe('192.0.2.7');
    expect(behind('127.0.0.1', hops(16))).toBe('10.0.0.1');
    expect(behind('127.0.0.1', hops(100_000))).toBe('10.0.0.1');
  });
});

describe('a peer that forwards but is not trusted', () => {
  it.each([
    ['is a stranger with the header', '172.18.0.5', '192.0.2.7', '172.18.0.5'],
    ['is named as IPv4', '::ffff:172.18.0.5', '192.0.2.7', '172.18.0.5'],
    ['is not a stranger without the header', '172.18.0.5', undefined, null],
    ['is not a trusted proxy', '10.1.2.3', '192.0.2.7', null],
    ['is not a connection that has ended', undefined, '192.0.2.7', null],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(forwarder(peer, forwarded)).toBe(expected);
  });

  it('is not a program at the unix socket', () => {
    expect(forwarder(undefined, '192.0.2.7', 'unix')).toBeNull();
  });
});

describe('a direct request of this machine', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('%s', (peer) => {
    expect(isDirectFromHere(request(peer), 'tcp')).toBe(true);
  });

  it('over a unix socket', () => {
    expect(isDirectFromHere(request(undefined), 'unix')).toBe(true);
  });

  it.each(['192.0.2.7', '::ffff:10.0.0.1', '2001:db8::1', undefined])('not %s', (peer) => {
    expect(isDirectFromHere(request(peer), 'tcp')).toBe(false);
  });

  it.each([
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-real-ip',
  ])('not with the header %s', (name) => {
    expect(isDirectFromHere(request('127.0.0.1', { [name]: '' }), 'tcp')).toBe(false);
    expect(isDirectFromHere(request(undefined, { [name]: 'x' }), 'unix')).toBe(false);
  });
});
