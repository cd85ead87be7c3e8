import { describe, expect, it } from 'vitest';
import { isAllowed, mailboxHashText, readSignUp } from '../../../../gateway/auth/sign-up.ts';
import { admissionOf } from '../../../../gateway/store/control/standing.ts';

describe('SVC_SIGN_UP', () => {
  it.each([
    ['closed', 'ana@example.com', false],
    [' Open ', 'ana@example.com', true],
    ['@example.com', 'ana@Example.com', true],
    ['@example.com', 'ana@mail.example.com', false],
    ['@example.com', 'ana@notexample.com', false],
    ['ben@example.org, @example.com', 'Ben+svc@example.org', true],
    ['ben@example.org', 'benn@example.org', false],
  ])('%j and %s: %j', (setting, address, allowed) => {
    expect(isAllowed(readSignUp(setting), address)).toBe(allowed);
  });

  it.each(['', 'yes', '@', 'ana@', 'ana@example.com;ben@example.com', 'open,@example.com'])(
    '%j is refused',
    (setting) => {
      expect(() => readSignUp(setting)).toThrow(/^SVC_SIGN_UP must be `closed`, `open`, or /);
    },
  );
});

it.each([
  ['ana@example.com', 'Ana+a@EXAMPLE.com', true],
  ['a.na@gmail.com', 'ana@googlemail.com', true],
  ['a.na@example.com', 'ana@example.com', false],
])('%s and %s are one mailbox: %j', (one, other, same) => {
  expect(mailboxHashText(one) === mailboxHashText(other)).toBe(same);
});

describe('an address', () => {
  const nobody = { hasAccount: false, sharesMailbox: false, isInvited: false, isFirst: false };
  it.each([
    [{ hasAccount: true, sharesMailbox: true }, false, 'welcome'],
    [{ sharesMailbox: true, isInvited: true }, true, 'other_spelling'],
    [{ isInvited: true }, false, 'welcome'],
    [{ isFirst: true }, false, 'welcome'],
    [{}, true, 'welcome'],
    [{}, false, 'by_invitation'],
  ])('%j, allowed by the settings: %j: %s', (known, allowed, admission) => {
    expect(admissionOf({ ...nobody, ...known }, allowed)).toBe(admission);
  });
});
