import { describe, expect, it } from 'vitest';
import { withoutInnerComments } from '../../../../../gateway/mail/inbound/reader/address-comments.ts';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';
import { growsInProportion } from '../../../../helpers/growth.ts';

async function addressesIn(field: string) {
  const { payload } = await readOffline(mailOf({ From: null, Cc: field }));
  return payload.cc.map(({ address, name }) => (name === '' ? address : `${name} <${address}>`));
}

describe('comments in a field of addresses', () => {
  // Most are from RFC 5322, appendix A.5 and A.6.3.
  it.each([
    ['Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', ['Pete <pete@silly.test>']],
    [
      "A Group(Some people):Chris Jones <c@(Chris's host.)public.example>, joe@example.org, John <jdoe@one.test> (my dear friend); (the end of the group)",
      ['Chris Jones <c@public.example>', 'joe@example.org', 'John <jdoe@one.test>'],
    ],
    ['(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;', []],
    ['ana(work)@example.com', ['ana@example.com']],
    ['ana (work) @example.com', ['ana@example.com']],
    ['ana@example.(the)com', ['ana@example.com']],
    ['Ana <ana@example.com(work)>', ['Ana <ana@example.com>']],
    ['ana@example.com (Ana)', ['Ana <ana@example.com>']],
    ['(Ana) ana@example.com', ['Ana <ana@example.com>']],
    ['ana@example.com (Ana (of the shop))', ['Ana  of the shop <ana@example.com>']],
    ['ana@example.com (a, b) , bo@example.com', ['a, b <ana@example.com>', 'bo@example.com']],
    ['"Ana (work)" <ana@example.com>', ['Ana (work) <ana@example.com>']],
    ['"Ana \\"(x" <ana@example.com>', ['Ana "(x <ana@example.com>']],
  ])('are no part of an address: %s', async (field, expected) => {
    expect(await addressesIn(field)).toEqual(expected);
  });

  it('that have no end leave the field as it came', () => {
    for (const field of ['Ana :( <ana@example.com>', '(', 'a(b(c) <x@y.example>', 'a (\\)']) {
      expect(withoutInnerComments(field)).toBe(field);
    }
  });

  it.each(['(', ')', '(a)', 'a(b)', '(a)@', ' (', '\\(', '"(', ',(a) ', '(('])(
    'take a time that grows with their number and no faster: %s',
    (piece) => {
      const leaveOut = (count: number): void => {
        withoutInnerComments(piece.repeat(count));
        withoutInnerComments(`${piece.repeat(count)}${')'.repeat(count)}`);
      };
      expect(growsInProportion(leaveOut, 100_000)).toBe(true);
    },
  );
});
