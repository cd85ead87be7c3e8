import { describe, expect, it } from 'vitest';
import { withoutInnerComments } from '../../../../../gateway/mail/inbound/reader/address-comments.ts';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

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

  it('take no long time', () => {
    const started = performance.now();
    for (const piece of ['(', ')', '(a)', 'a(b)', '(a)@', ' (', '\\(', '"(', ',(a) ', '((']) {
      withoutInnerComments(piece.repeat(10_000));
      withoutInnerComments(`${piece.repeat(10_000)}${')'.repeat(10_000)}`);
    }
    // A busy machine may rest in between; in quadratic time it would be minutes.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
