import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparableDomain,
  domainCovers,
  domainMatches,
  domainProblem,
} from '../../../../shared/rules/policy/domain.ts';

const label = fc.constantFrom('a', 'b', 'ab', 'xa');
const domain = fc
  .array(label, { minLength: 1, maxLength: 4 })
  .map((labels) => [...labels, 'com'].join('.'));
const pattern = fc.tuple(fc.boolean(), domain).map(([wild, name]) => (wild ? `*.${name}` : name));

describe('domainMatches', () => {
  it.each([
    ['a.com', 'a.com', true],
    ['a.com', 'x.a.com', false],
    ['a.com', 'xa.com', false],
    ['a.com', 'a.com.evil.net', false],
    ['*.a.com', 'x.a.com', true],
    ['*.a.com', 'y.x.a.com', true],
    ['*.a.com', 'a.com', false],
    ['*.a.com', 'xa.com', false],
    ['*.a.com', 'a.com.evil.net', false],
    ['a.com', '', false],
    ['*.a.com', '', false],
  ])('%s and %s: %s', (wanted, given, expected) => {
    expect(domainMatches(wanted, given)).toBe(expected);
  });
});

describe('domainCovers', () => {
  it.each([
    ['a.com', 'a.com', true],
    ['a.com', '*.a.com', false],
    ['*.a.com', 'a.com', false],
    ['*.a.com', 'x.a.com', true],
    ['*.a.com', '*.a.com', true],
    ['*.a.com', '*.x.a.com', true],
    ['*.x.a.com', '*.a.com', false],
    ['*.a.com', '*.xa.com', false],
  ])('%s covers %s: %s', (broad, narrow, expected) => {
    expect(domainCovers(broad, narrow)).toBe(expected);
  });

  it('means that all that the narrow one matches, the broad one matches', () => {
    fc.assert(
      fc.property(pattern, pattern, domain, (broad, narrow, name) => {
        expect(domainProblem(broad)).toBeNull();
        const escapes = domainMatches(narrow, name) && !domainMatches(broad, name);
        expect(domainCovers(broad, narrow) && escapes).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('misses nothing: what it does not cover has a name that escapes', () => {
    fc.assert(
      fc.property(pattern, pattern, (broad, narrow) => {
        const least = narrow.replace('*', 'zz');
        expect(domainCovers(broad, narrow)).toBe(domainMatches(broad, least));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('comparableDomain', () => {
  it.each([
    ['a.com', 'a.com'],
    ['A.Com', 'a.com'],
    ['a.com.', 'a.com'],
    ['Bücher.de', 'xn--bcher-kva.de'],
    ['XN--BCHER-KVA.de', 'xn--bcher-kva.de'],
    ['ａ.com', 'a.com'],
    // A Kelvin sign is a k to IDNA, and so to a mail server.
    ['\u212A.com', 'k.com'],
    ['a\u3002com', ''],
    ['bü cher.de', ''],
    [`${'ü'.repeat(300)}.de`, ''],
  ])('%s is %s', (given, expected) => {
    expect(comparableDomain(given)).toBe(expected);
  });

  it('leaves the domains that rules may name as they are', () => {
    fc.assert(
      fc.property(fc.oneof(domain, fc.domain()), (name) => {
        fc.pre(domainProblem(name) === null);
        expect(comparableDomain(name)).toBe(name);
      }),
    );
  });
});
