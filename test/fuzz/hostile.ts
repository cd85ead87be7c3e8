import * as fc from 'fast-check';

const MEBI = 1024 * 1024;

/** Texts that careless programs stumble over. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\u202Etxt.exe',
  '\u2066a\u2069',
  '\u001b[2J\u001b]0;title\u0007',
  '\u009b31m',
  'a\r\nBcc: victim@example.com',
  '\r',
  '\u2028',
  '\ufeff',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '${7*7}',
  '{{7*7}}',
  "'; DROP TABLE events; --",
  '%00',
  '%s%n',
  '../../etc/passwd',
  'C:\\x',
  '<script>alert(1)</script>',
  'NaN',
  'Infinity',
  '-0',
  '1e999',
  '0x10',
  '٣',
  'null',
  'undefined',
  'true',
  '[object Object]',
  'İstanbul',
  'ﬃ',
  '\u0041\u030a'.repeat(200),
  '👨‍👩‍👧‍👦'.repeat(50),
  'a'.repeat(70_000),
  '*'.repeat(300),
  '9999-99-99T99:99:99Z',
  '+275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://user:pass@127.0.0.1/',
  'http://[::1]:1/',
  'https://0x7f.1/',
  'disk://../x',
  'evt_00000000000000000000000000',
  'prj_0000000000000000',
];

const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  0.1,
  1e21,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  Number.MAX_VALUE,
];

export const hostileText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  // Lone surrogates among them.
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 6 })
      .map((units) => String.fromCharCode(...units)),
  },
);

const hostileNumber = fc.oneof(
  fc.constantFrom(...HOSTILE_NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
);

/** Own keys of these names are data like any other. */
const hostileKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '\0', 'length', 'a.b', 'x[0]'),
  fc.string({ unit: 'binary', maxLength: 10 }),
);

/** An object whose keys are its own, `__proto__` too. */
export function ownObject(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

export function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const leaf = fc.oneof(hostileText, hostileNumber, fc.boolean(), fc.constant(null));

/** A JSON value of any type that nobody asked for. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  { weight: 2, arbitrary: fc.array(leaf, { maxLength: 5 }) },
  {
    weight: 2,
    arbitrary: fc.array(fc.tuple(hostileKey, leaf), { maxLength: 5 }).map(ownObject),
  },
  { weight: 1, arbitrary: fc.constantFrom(50, 127, 129, 3000).map(nested) },
);

/** An extra field and its value. */
export const extraField = fc.tuple(hostileKey, leaf);

/** A body that isn't a JSON object. */
export const hostileBody: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .constantFrom(
      '',
      ' ',
      '{',
      '{"a":1',
      '{"a":1}}',
      '[]',
      '[[[[',
      'null',
      '"text"',
      'NaN',
      '{"a":NaN}',
      '{"a":1e999}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":01}',
      '\ufeff{}',
      '{"a":"\u0001"}',
      '{"a":"\\ud800"}',
      '{"\\u005f_proto__":{"x":1}}',
      '{"a":1,"a":{"b":2}}',
      '['.repeat(100_000),
      '{"a":'.repeat(20_000),
      `{"a":"${'x'.repeat(MEBI)}"}`,
      `[${'0,'.repeat(60_000)}0]`,
    )
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('fffe7b007d00', '7b2261223a22ff227d', 'eda080', '7b7dc0', 'c080')
    .map((hex) => Buffer.from(hex, 'hex')),
);

/** Another text made of this one by a few changes at any place. */
export function mutated(original: Buffer, tokens: readonly string[]): fc.Arbitrary<Buffer> {
  const change = fc.record({
    at: fc.nat(original.length),
    length: fc.nat(60),
    from: fc.nat(original.length),
    token: fc.constantFrom(...tokens),
    kind: fc.constantFrom('insert', 'replace', 'cut', 'copy', 'truncate', 'flip'),
  });
  return fc.array(change, { minLength: 1, maxLength: 8 }).map((changes) =>
    changes.reduce((bytes: Buffer, { at: place, length, from, token, kind }) => {
      const at = Math.min(place, bytes.length);
      const end = Math.min(bytes.length, at + length);
      const text = Buffer.from(token, 'latin1');
      const [before, behind] = [bytes.subarray(0, at), bytes.subarray(end)];
      if (kind === 'insert') return Buffer.concat([before, text, bytes.subarray(at)]);
      if (kind === 'replace') return Buffer.concat([before, text, behind]);
      if (kind === 'cut') return Buffer.concat([before, behind]);
      if (kind === 'truncate') return Buffer.from(before);
      if (kind === 'flip') return Buffer.concat([before, flipped(bytes.subarray(at, end)), behind]);
      return Buffer.concat([before, original.subarray(from, from + length), bytes.subarray(at)]);
    }, original),
  );
}

function flipped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ (1 << (byte & 7))));
}
