import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../shared/rules/canonical-json.ts';

describe('canonicalJson', () => {
  it('writes the sample of RFC 8785, section 3.2.2', () => {
    const sample: unknown = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    expect(canonicalJson(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts names by UTF-16 code units, as in RFC 8785, section 3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\u{1f600}': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values<unknown>(JSON.parse(canonicalJson(value)))).toEqual([
      'One',
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each([
    [-0, '0'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [333333333.3333332, '333333333.3333332'],
  ])('writes the number %s as in RFC 8785, appendix B', (value, expected) => {
    expect(canonicalJson(value)).toBe(expected);
  });

  it('leaves out members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: { c: undefined }, d: 1 })).toBe('{"a":{},"d":1}');
  });

  it('writes names such as __proto__ like any other', () => {
    expect(canonicalJson(JSON.parse('{"constructor":1,"__proto__":{"x":2}}'))).toBe(
      '{"__proto__":{"x":2},"constructor":1}',
    );
  });

  it('escapes lone surrogates', () => {
    expect(canonicalJson('\ud800\0')).toBe(String.raw`"\ud800\u0000"`);
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', [Infinity]],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a hole in an array', Array.from({ length: 1 })],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['a symbol', Symbol('a')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('writes 1,000 levels and refuses 1,001', () => {
    expect(canonicalJson(nested(1000))).toHaveLength(500 * 8 + 1);
    expect(() => canonicalJson(nested(1001))).toThrow(TypeError);
  });

  it('refuses a cycle', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => canonicalJson(cycle)).toThrow(TypeError);
  });

  it('keeps the value and does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** Arrays and objects in turn. */
function nested(levels: number): unknown {
  const pairs = Math.floor(levels / 2);
  const core = levels % 2 === 1 ? '[]' : '1';
  return JSON.parse('[{"a":'.repeat(pairs) + core + '}]'.repeat(pairs));
}
