import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparableAddress,
  domainOf,
  isMailAddress,
  isRouted,
  likelyMailbox,
  likelyPerson,
  maskedAddress,
} from '../../../shared/rules/mail/mail-address.ts';
import { growsInProportion } from '../../helpers/growth.ts';

describe('isRouted', () => {
  it.each([
    ['ana@example.com', false],
    ['ana+tag=x@example.com', false],
    ['ana%elsewhere.example@example.com', true],
    ['elsewhere.example!ana@example.com', true],
  ])('%s: %s', (address, is) => {
    expect(isRouted(address)).toBe(is);
  });
});

describe('isMailAddress', () => {
  it.each([
    'ana@example.com',
    'a@b',
    'owner@localhost',
    "o'hara+tag@sub.example.co.uk",
    'a.b.c_d-e/f=g?h^i`j{k|l}m~n!o#p$q%r&s*t@x--y.example',
    `${'x'.repeat(64)}@example.com`,
    `a@${'x'.repeat(63)}.com`,
    'a@xn--bcher-kva.example',
  ])('takes %j', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  it.each([
    '',
    'ana',
    '@',
    'ana@',
    '@example.com',
    'a@b@c',
    'a b@example.com',
    'a@exa mple.com',
    'a@example.com ',
    ' a@example.com',
    'a@example.com\n',
    'a@example.com\r\nBcc: b@example.com',
    'a\0@example.com',
    'a,b@example.com',
    'a;b@example.com',
    'a:b@example.com',
    '<a@example.com>',
    'Ana <a@example.com>',
    '"a"@example.com',
    'a(comment)@example.com',
    'a\\b@example.com',
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    'a@.example.com',
    'a@example.com.',
    'a@example..com',
    'a@-example.com',
    'a@example-.com',
    'a@exam_ple.com',
    'a@[127.0.0.1]',
    'ä@example.com',
    'a@exämple.com',
    'ａ@example.com',
    `${'x'.repeat(65)}@example.com`,
    `a@${'x'.repeat(64)}.com`,
    `a@${'x.'.repeat(127)}com`,
  ])('refuses %j', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });

  it.each([
    (count: number) => 'a'.repeat(2 * count),
    (count: number) => `${'a.'.repeat(count)}@`,
    (count: number) => `a@${'a-'.repeat(count)}`,
    (count: number) => '@'.repeat(2 * count),
  ])('refuses a long text in a time that grows with it and no faster: %s', (text) => {
    const refuse = (count: number): void => expect(isMailAddress(text(count))).toBe(false);
    expect(growsInProportion(refuse, 500_000)).toBe(true);
  });

  it('takes nothing that a header or a list of addresses would take for more', () => {
    const part = fc.string({ unit: 'binary', maxLength: 5 });
    const plain = /^[^\s"(),:;<>@[\\\]\p{Cc}]+@[A-Za-z0-9.-]+$/u;
    fc.assert(
      fc.property(part, part, (one, other) => {
        const text = `${one}@${other}`;
        return !isMailAddress(text) || plain.test(text);
      }),
    );
    expect(plain.test('a@b')).toBe(true);
  });
});

describe('an address', () => {
  it('compares without regard to the case of its domain alone', () => {
    expect(comparableAddress('Ana@Example.COM')).toBe('Ana@example.com');
    expect(comparableAddress('ana@example.com')).toBe('ana@example.com');
    expect(domainOf('Ana@Example.COM')).toBe('example.com');
  });

  it('is masked to its first character and its domain', () => {
    expect(maskedAddress('Ana.Lovelace@Example.COM')).toBe('A***@example.com');
    expect(maskedAddress('a@b')).toBe('a***@b');
  });
});

describe('likelyMailbox', () => {
  it.each([
    ['Ana@Example.COM', 'ana@example.com'],
    ['ana+tag@example.com', 'ana@example.com'],
    ['ana+a+b@example.com', 'ana@example.com'],
    ['+a@example.com', '+a@example.com'],
    ['a.b@example.com', 'a.b@example.com'],
  ])('of %s is %s', (address, mailbox) => {
    expect(likelyMailbox(address)).toBe(mailbox);
  });
});

describe('likelyPerson', () => {
  it.each([
    ['ana@me.com', 'ana@icloud.com'],
    ['a.na@mac.com', 'a.na@icloud.com'],
    ['A-n_a+svc@pm.me', 'ana@proton.me'],
    ['ana@protonmail.com', 'ana@proton.me'],
    ['a-na@ya.ru', 'ana@yandex.ru'],
    ['a.na@googlemail.com', 'ana@gmail.com'],
    ['a-na+b@example.com', 'a-na@example.com'],
  ])('of %s is %s', (address, person) => {
    expect(likelyPerson(address)).toBe(person);
  });
});
