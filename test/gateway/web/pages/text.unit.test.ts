import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cautionsOf,
  fold,
  pieces,
  plainLine,
  type TextKind,
} from '../../../../gateway/web/pages/text.ts';
import { anyText } from './any-text.ts';
import { growsInProportion } from '../../../helpers/growth.ts';

const READINGS: readonly TextKind[] = ['prose', 'line', 'exact', 'code'];
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** `[…]` around what is hidden, `{…}` around what may pass for another. */
function marked(text: string, reading: TextKind): string {
  const braces = { plain: ['', ''], hidden: ['[', ']'], lookalike: ['{', '}'] } as const;
  return pieces(text, reading)
    .map((piece) => braces[piece.kind][0] + piece.text + braces[piece.kind][1])
    .join('');
}

describe('what cannot be seen', () => {
  it.each([
    ['reordered \u202e129\u202c euros', 'reordered [U+202E]129[U+202C] euros'],
    ['pay\u200bpal', 'pay[U+200B]pal'],
    ['\u2066isolated\u2069', '[U+2066]isolated[U+2069]'],
    ['null\u0000bell\u0007', 'null[U+0000]bell[U+0007]'],
    ['escape \u001b[31m', 'escape [U+001B][31m'],
    ['half \ud83d pair', 'half [U+D83D] pair'],
    ['blank\u3164filler\u2800braille', 'blank[U+3164]filler[U+2800]braille'],
    ['\u{e0041}\u{e0042}tags', '[U+E0041 U+E0042]tags'],
    ['same\u200b\u200b\u200bagain', 'same[U+200B × 3]again'],
    ['many\u0001\u0002\u0003\u0004\u0005', 'many[U+0001 U+0002 U+0003 and 2 more]'],
    ['a\u{e0100}variation', 'a[U+E0100]variation'],
  ])('%j is shown as %s', (text, shown) => {
    expect(marked(text, 'prose')).toBe(shown);
  });

  it('keeps what belongs to the spelling of pictures and words', () => {
    for (const text of [
      '👩\u200d💻',
      '❤\ufe0f',
      '1\ufe0f⃣',
      'می\u200cخواهم',
      'क्\u200dष',
      'é',
      'e\u0301',
    ]) {
      expect(pieces(text, 'prose')).toEqual([{ kind: 'plain', text }]);
    }
  });

  it('shows a joiner that joins nothing', () => {
    expect(marked('a\u200db', 'prose')).toBe('a[U+200D]b');
    expect(marked('a\ufe0f', 'prose')).toBe('a[U+FE0F]');
  });

  it('lets marks pile up only so high', () => {
    expect(marked(`Z${'\u0335'.repeat(9)}`, 'prose')).toBe(`Z${'\u0335'.repeat(4)}[U+0335 × 5]`);
  });

  it('has lines in prose only', () => {
    expect(marked('a\r\nb\tc', 'prose')).toBe('a\nb\tc');
    expect(marked('a\nb\tc', 'line')).toBe('a[line break]b[tab]c');
    expect(marked('a\nb', 'exact')).toBe('a[line break]b');
  });

  it('tells the number of blanks that could push something out of sight', () => {
    expect(marked(`a${' '.repeat(40)}b`, 'prose')).toBe('a[40 spaces]b');
    expect(marked(`a${'\n'.repeat(41)}b`, 'prose')).toBe('a\n[40 empty lines]\nb');
    expect(marked('a\n\n\nb', 'prose')).toBe('a\n\n\nb');
    expect(marked(' refund  create', 'exact')).toBe('[space]refund[2 spaces]create');
    expect(marked('+     amount: 1', 'code')).toBe('+     amount: 1');
  });
});

describe('what can pass for another', () => {
  it.each([
    ['prose', 'p\u0430ypal', 'p{\u0430}ypal'],
    ['prose', 'Привет, мир', 'Привет, мир'],
    ['prose', 'ｐay 𝟏00', '{ｐ}ay {𝟏}00'],
    ['prose', 'naïve café, 5 µm, nº 1', 'naïve café, 5 µm, nº 1'],
    ['exact', 'refund.\u0441reate', 'refund.{\u0441}reate'],
    ['exact', 'refund.cr\u00e9ate', 'refund.cr{\u00e9}ate'],
    ['exact', 'a\u00a0b', 'a[U+00A0]b'],
  ] as const)('%s: %j', (reading, text, shown) => {
    expect(marked(text, reading)).toBe(shown);
  });

  it('is told once for all texts', () => {
    expect(cautionsOf([['plain', 'prose']])).toEqual({
      hidden: false,
      lookalike: false,
      directions: false,
    });
    expect(
      cautionsOf([
        ['pay\u200b', 'line'],
        ['\u0441reate', 'exact'],
        ['שלח 100 ל Bob', 'prose'],
      ]),
    ).toEqual({ hidden: true, lookalike: true, directions: true });
  });
});

describe('any text', () => {
  it('comes out without a character that cannot be seen, in order and with nothing lost', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(...READINGS), (text, reading) => {
        const shown = pieces(text, reading);
        const seen = shown.filter(({ kind }) => kind !== 'hidden').map((piece) => piece.text);
        const spelled = seen
          .join('')
          .replaceAll(/[\n\t]|\u{fe0e}|\u{fe0f}|\u{200c}|\u{200d}/gu, '');
        expect(UNSEEN.test(spelled)).toBe(false);
        expect(isWithin(seen.join(''), text.replaceAll(/\r\n?/g, '\n'))).toBe(true);
        // Whatever is missing is told.
        const whole = seen.join('') === text.replaceAll(/\r\n?/g, '\n') || seen.join('') === text;
        expect(whole || shown.some(({ kind }) => kind === 'hidden')).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('is nothing but printable ASCII, marks and boxes where each character counts', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const plain = pieces(text, 'exact').filter(({ kind }) => kind === 'plain');
        expect(plain.filter((piece) => !/^[\u0020-\u007e]+$/.test(piece.text))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it.each(['\n ', ' ', '\u0335', '\u200b', 'a\u0430', '\n\n\n\n\n', '\t\n'])(
    'takes a time that grows with its length and no faster: %j',
    (bad) => {
      const show = (length: number): void => {
        const text = bad.repeat(Math.ceil(length / bad.length));
        for (const reading of READINGS) pieces(text, reading);
        fold(text);
      };
      expect(growsInProportion(show, 60_000)).toBe(true);
    },
  );

  it('is one line of text for a title', () => {
    expect(plainLine('Acme\u202e\nShop')).toBe('Acme[U+202E line break]Shop');
  });
});

describe('folding', () => {
  it('leaves a short text whole', () => {
    expect(fold('Two\r\nlines')).toEqual({ open: 'Two\nlines', folded: '' });
  });

  it('folds a long one between words, and many lines between lines', () => {
    const words = fold('word '.repeat(500));
    expect(words.open).toMatch(/word $/);
    expect(words.open.length).toBeLessThanOrEqual(420);
    const lines = fold('line\n'.repeat(100));
    expect(lines.open.split('\n')).toHaveLength(11);
  });

  it('shows what stands behind empty lines', () => {
    const text = `harmless${'\n'.repeat(3000)}drop everything`;
    expect(fold(text)).toEqual({ open: text, folded: '' });
  });

  it('loses nothing and cuts no pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
        const { open, folded } = fold(text);
        expect(open + folded).toBe(text.replaceAll(/\r\n?/g, '\n'));
        expect(/[\ud800-\udbff]$/.test(open) && /^[\udc00-\udfff]/.test(folded)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});

/** Whether `part` is what is left of `whole` after leaving characters out. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    at = whole.indexOf(character, at);
    if (at === -1) return false;
    at += character.length;
  }
  return true;
}
