import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeHtml,
  fitHtml,
  fitText,
  shownLine,
  shownText,
} from '../../../../gateway/channels/telegram/display-text.ts';
import { parseTelegramHtml } from '../../../helpers/telegram-html.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });

describe('a text as a person is shown it', () => {
  it.each([
    ['a direction that turns', 'pay \u202E001\u202C EUR', 'pay \uFFFD001\uFFFD EUR'],
    ['an isolate', '\u2066x\u2069', '\uFFFDx\uFFFD'],
    ['a space of no width', 'ap\u200Bprove', 'ap\uFFFDprove'],
    ['a joiner between messages', 'a\u200Db', 'a\uFFFDb'],
    ['a mark of bytes', '\uFEFFx', '\uFFFDx'],
    ['a soft hyphen', 'de\u00ADny', 'de\uFFFDny'],
    ['a bell, an escape and NUL', '\u0007\u001B[31m\u0000', '\uFFFD\uFFFD[31m\uFFFD'],
    ['a filler that draws nothing', '\u3164\uFFA0\u115F', '\uFFFD\uFFFD\uFFFD'],
    ['tags', 'a\u{E0041}\u{E007F}', 'a\uFFFD\uFFFD'],
    ['half a character', 'a\uD83Db', 'a\uFFFDb'],
    ['a private character', '\uE000', '\uFFFD'],
    ['a selector after a message', 'a\uFE0Fb', 'a\uFFFDb'],
    ['breaks of all kinds', 'a\r\nb\rc\u2028d\u0085e', 'a\nb\nc\nd\ne'],
    ['many breaks', 'a\n\n\n\n\nb', 'a\n\nb'],
    ['breaks at the ends', '\n\n a \n', ' a'],
    ['piled marks', `z${'\u0301'.repeat(40)}!`, `z${'\u0301'.repeat(4)}\uFFFD!`],
  ])('has %s in sight', (_, text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  it.each([
    'Grüße, 東京, مرحبا, हिन्दी, Việt',
    '👍🏽 ❤️ 👩‍💻 👩‍❤️‍💋‍👨 🏳️‍🌈 🇫🇷 ⚠️',
    'a\tb\nc\n\nd',
    'if (a < b && c > "d") {}',
  ])('keeps %j', (text) => {
    expect(shownText(text)).toBe(text);
  });

  it('on one line has no breaks and single spaces', () => {
    expect(shownLine(' a\n\nb \t  c\u00A0\u00A0d ')).toBe('a b c d');
  });

  it('shows nothing that is not seen, whatever comes', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shownText(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Cs}|\p{Co}/u);
        expect(shownText(text)).not.toMatch(/[\u200B\u202A-\u202E\u2060-\u206F\uFEFF]/);
        expect(shownLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });
});

describe('escaping', () => {
  it('makes text of tags and entities', () => {
    expect(escapeHtml('<b>&lt; "x"')).toBe('&lt;b&gt;&amp;lt; &quot;x&quot;');
  });

  it('comes back as the same text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parseTelegramHtml(escapeHtml(text)).text).toBe(text.trim());
      }),
    );
  });
});

describe('fitting', () => {
  it('leaves alone what fits', () => {
    expect(fitHtml('a < b', 8)).toEqual({ html: 'a &lt; b', isCut: false });
  });

  it('counts what escaping adds, and cuts no escape in two', () => {
    expect(fitHtml('a < b', 7)).toEqual({ html: 'a &lt;…', isCut: true });
    expect(fitHtml('a < b', 6)).toEqual({ html: 'a …', isCut: true });
  });

  it('cuts no character in two', () => {
    expect(fitHtml('👍👍👍', 4)).toEqual({ html: '👍…', isCut: true });
    expect(fitText('👍👍👍', 4)).toBe('👍…');
  });

  it('never exceeds its limit, and stays a beginning of the text', () => {
    const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 250 }), (raw, max) => {
        const text = shownText(raw).trim();
        const { html, isCut } = fitHtml(text, max);
        expect(html.length).toBeLessThanOrEqual(max);
        const plain = parseTelegramHtml(html).text;
        expect(plain).not.toMatch(lone);
        expect(isCut ? text.startsWith(plain.slice(0, -1)) : plain === text).toBe(true);
        expect(fitText(text, max).length).toBeLessThanOrEqual(max);
      }),
    );
  });
});
