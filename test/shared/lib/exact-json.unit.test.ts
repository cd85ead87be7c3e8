import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ExactNumber,
  parseExact,
  plainNumbers,
  stringifyExact,
} from '../../../shared/lib/json/exact-json.ts';

/** Any number as JSON may write it. */
const numberText = fc.stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{1,24})?(?:[eE][+-]?\d{1,3})?$/);

/** JSON as somebody may write it: numbers of all kinds, white space, names twice, escapes. */
const jsonText = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    fc.constantFrom('true', 'false', 'null', '""', String.raw`"\ud800 \" \\"`, '"1.10,[1e5"'),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('any'), { maxLength: 4 }).map((items) => `[${items.join(' ,\n')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', '10', '__proto__', 'a\\u0062'), tie('any')), {
        maxLength: 4,
      })
      .map((all) => `{ ${all.map(([name, value]) => `"${name}"\t: ${value}`).join(',')} }`),
  ),
})).any;

/** A text without the white space between its parts. */
const dense = (text: string) =>
  text.replaceAll(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, (_, string?: string) => string ?? '');

describe('a number', () => {
  it.each([
    '1234567890123456789',
    '-9007199254740993',
    '1.0',
    '-0',
    '-0.0',
    '1.10',
    '1e5',
    '1E400',
    '0.1000000000000000055',
    '123456789.12345678',
    '0.0000001',
    '1e21',
    '100000000000000000000000',
  ])('that a double would change is written as it was read: %s', (text) => {
    expect(stringifyExact(parseExact(text))).toBe(text);
    expect(stringifyExact(parseExact(`{"a":[ ${text} ]}`))).toBe(`{"a":[${text}]}`);
  });

  it('is written as it was read, however it is written', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        expect(stringifyExact(parseExact(text))).toBe(text);
        expect(stringifyExact(parseExact(`{"a":${text}}`))).toBe(`{"a":${text}}`);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['0', '7', '-1', '1.5', '0.1', '9007199254740991', '1e+21', '1e-7', '5e-324'])(
    'that a double keeps is a plain number: %s',
    (text) => expect(parseExact(text)).toBe(Number(text)),
  );

  it('that only looks so in a text is none', () => {
    const text = '["1e5, 1.10 and -0", 2]';
    expect(parseExact(text)).toEqual(['1e5, 1.10 and -0', 2]);
  });
});

describe('any JSON', () => {
  it('is read as JSON.parse reads it, but for the numbers that would change', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const read: unknown = JSON.parse(JSON.stringify(parseExact(text)));
        expect(read).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
      }),
      { numRuns: 1000 },
    );
  });

  it('is written as JSON.stringify writes it, with and without lines, but for those numbers', () => {
    fc.assert(
      fc.property(jsonText, fc.constantFrom(0, 2), (text, indent) => {
        const shown = stringifyExact(parseExact(text), indent);
        const plain: unknown = JSON.parse(shown);
        expect(dense(shown)).toBe(stringifyExact(parseExact(shown)));
        expect(plain).toEqual(JSON.parse(text));
        const unexact = JSON.parse(JSON.stringify(plain)) as unknown;
        expect(stringifyExact([unexact], indent)).toBe(JSON.stringify([unexact], null, indent));
        const mixed = { a: unexact, b: new ExactNumber('7') };
        expect(stringifyExact(mixed, indent)).toBe(
          JSON.stringify({ a: unexact, b: 7 }, null, indent),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['', '1.0.0', '[1.10', '01.0', '1.', '{"a":1.0,}', '-', '1e', '+1.0', 'NaN'])(
    'that is none is refused as JSON.parse refuses it: %j',
    (text) => expect(() => parseExact(text)).toThrow(SyntaxError),
  );

  it('leaves out what is undefined', () => {
    const exact = new ExactNumber('1.0');
    expect(stringifyExact({ a: undefined, b: exact, c: [undefined] })).toBe('{"b":1.0,"c":[null]}');
  });

  it('is written with the nearest double by whoever does not know of exact numbers', () => {
    expect(JSON.stringify(parseExact('[1234567890123456789,1.10]'))).toBe(
      '[1234567890123456800,1.1]',
    );
  });
});

describe('plain numbers', () => {
  it('stand where a schema expects them, but for the member that is left as it is', () => {
    const input = parseExact('{"amount":1.50,"rules":[{"amount_lte":1e2}],"value":1.50}');
    expect(plainNumbers(input, ['value'])).toEqual({
      amount: 1.5,
      rules: [{ amount_lte: 100 }],
      value: new ExactNumber('1.50'),
    });
  });

  it('never are another whole number than was written', () => {
    expect(plainNumbers(parseExact('[9007199254740993, 1e21, 1000000000000000000000]'))).toEqual([
      new ExactNumber('9007199254740993'),
      1e21,
      1e21,
    ]);
    expect(plainNumbers(new ExactNumber('9'.repeat(400)))).toBeInstanceOf(ExactNumber);
  });

  it('leave bytes alone', () => {
    const bytes = [new Uint8Array([1, 2])];
    expect(plainNumbers({ bytes })).toEqual({ bytes });
  });
});
