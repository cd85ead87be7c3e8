import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPrefix } from '../../shared/store/tables/text-range.ts';

const compare = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Characters about the borders of UTF-8's lengths and of the surrogates. */
const EDGES = ['\u0000', ' ', 'a', 'z', '\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000'];
const FAR = ['\uffff', '\u{10000}', '😀', '\u{10fffe}', '\u{10ffff}'];
const unit = fc.oneof(
  fc.constantFrom(...EDGES, ...FAR),
  fc.string({ unit: 'binary', maxLength: 1 }),
);
const text = fc.string({ unit, maxLength: 5 });

describe('the end of all that begins with a prefix', () => {
  it.each([
    ['', null],
    ['a', 'b'],
    ['a/', 'a0'],
    ['é', 'ê'],
    ['\u007f', '\u0080'],
    ['\u07ff', '\u0800'],
    ['\ud7ff', '\ue000'],
    ['\uffff', '\u{10000}'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
    ['\ud7ff\u{10ffff}', '\ue000'],
    ['\u{10ffff}', null],
    ['\u{10ffff}\u{10ffff}', null],
    ['\u{10fffe}', '\u{10ffff}'],
  ])('of %j is %j', (prefix, end) => {
    expect(afterPrefix(prefix)).toBe(end);
  });

  it('stands behind every text with the prefix and before every later one without', () => {
    const property = fc.property(text, text, (prefix, other) => {
      const end = afterPrefix(prefix);
      const within = (one: string): boolean =>
        compare(one, prefix) >= 0 && (end === null || compare(one, end) < 0);
      expect(within(prefix + other)).toBe(true);
      expect(within(other)).toBe(other.startsWith(prefix));
    });
    fc.assert(property, { numRuns: 2000 });
  });

  it('is valid Unicode', () => {
    const property = fc.property(text, (prefix) => {
      expect((afterPrefix(prefix) ?? '').isWellFormed()).toBe(true);
    });
    fc.assert(property);
  });
});
