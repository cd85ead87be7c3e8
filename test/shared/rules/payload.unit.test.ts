import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodePayload,
  parseBoundedJson,
  parsePayload,
} from '../../../shared/rules/payload/payload.ts';
import { growsInProportion } from '../../helpers/growth.ts';

const JSON_TYPE = 'application/json';
const FORM_MAX = 512 * 1024;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const parse = (type: string | undefined, body: string | Uint8Array) =>
  parsePayload(type, typeof body === 'string' ? Buffer.from(body) : body);

const isWellFormed = (text: string): boolean => !/\p{Cs}/u.test(text);

describe('the kind of a payload', () => {
  it.each<[string | undefined, string | Uint8Array, string, unknown]>([
    [JSON_TYPE, '{"a":1}', 'json', { a: 1 }],
    ['Application/JSON; charset=utf-8', '[1]', 'json', [1]],
    ['application/cloudevents+json', 'null', 'json', null],
    ['text/json', '"x"', 'json', 'x'],
    [undefined, '{"a":1}', 'json', { a: 1 }],
    ['', '7', 'json', 7],
    [undefined, 'hello', 'text', { text: 'hello' }],
    [JSON_TYPE, '{"a":', 'text', { text: '{"a":' }],
    [JSON_TYPE, '', 'text', { text: '' }],
    [undefined, '', 'text', { text: '' }],
    [FORM_TYPE, '', 'form', {}],
    ['text/plain', '{"a":1}', 'text', { text: '{"a":1}' }],
    ['application/octet-stream', new Uint8Array([0xff, 0]), 'base64', { base64: '/wA=' }],
    [JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22]), 'base64', { base64: 'Iv8i' }],
    [FORM_TYPE, new Uint8Array([0x61, 0x3d, 0xff]), 'base64', { base64: 'YT3/' }],
    [JSON_TYPE, '\ufeff{"a":1}', 'json', { a: 1 }],
    ['text/plain', '\ufeffhi', 'text', { text: 'hi' }],
    ['multipart/form-data; boundary=x', '--x--', 'text', { text: '--x--' }],
    [FORM_TYPE, 'a=1&b=x+y%21&a=2&c&a=3', 'form', { a: ['1', '2', '3'], b: 'x y!', c: '' }],
    [`${FORM_TYPE};charset=UTF-8`, '?a=%ZZ&=v&&', 'form', { '?a': '%ZZ', '': 'v' }],
  ])('%s %j is %s', (type, body, kind, value) => {
    const payload = parse(type, body);
    expect(payload.kind).toBe(kind);
    expect(payload.value).toEqual(value);
  });
});

const latin = (text: string) => Buffer.from(text, 'latin1');
const part = (head: string, text: string) =>
  `--xYz\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;

describe('a body in another charset', () => {
  const LATIN = 'charset=windows-1252';

  it.each<[string, string, Uint8Array, string, unknown]>([
    ['text', `text/plain; ${LATIN}`, latin('José'), 'text windows-1252', { text: 'José' }],
    [
      '€ and “”',
      `text/plain; ${LATIN}`,
      latin('\x80 \x93\x94'),
      'text windows-1252',
      { text: '€ “”' },
    ],
    ['text', 'text/plain; charset="ISO-8859-1"', latin('ü'), 'text windows-1252', { text: 'ü' }],
    ['JSON', `application/json; ${LATIN}`, latin('{"a":"é"}'), 'json windows-1252', { a: 'é' }],
    ['JSON in UTF-8', `application/json; ${LATIN}`, Buffer.from('{"a":"é"}'), 'json', { a: 'é' }],
    [
      'a form',
      `${FORM_TYPE}; ${LATIN}`,
      latin('a=Jos%E9&b=é'),
      'form windows-1252',
      { a: 'José', b: 'é' },
    ],
    [
      'a form of PayPal',
      FORM_TYPE,
      latin('first_name=Jos%E9&charset=windows-1252'),
      'form windows-1252',
      { first_name: 'José', charset: 'windows-1252' },
    ],
    [
      'a form in Shift_JIS',
      `${FORM_TYPE};charset=shift_jis`,
      latin('a=%93%FA%96%7B'),
      'form shift_jis',
      { a: '日本' },
    ],
    ['a form in UTF-8', FORM_TYPE, latin('a=%E2%82%AC+x'), 'form', { a: '€ x' }],
    ['a form that says nothing', FORM_TYPE, latin('a=Jos%E9'), 'text', { text: 'a=Jos%E9' }],
    [
      'UTF-16',
      'text/plain; charset=utf-16le',
      Buffer.from('naïve', 'utf16le'),
      'text utf-16le',
      { text: 'naïve' },
    ],
    [
      'one that nobody knows',
      'text/plain; charset=x-klingon',
      latin('é'),
      'base64',
      { base64: '6Q==' },
    ],
    [
      'bytes that are not in it',
      'text/plain; charset=shift_jis',
      new Uint8Array([0x41, 0x80, 0xff]),
      'base64',
      { base64: 'QYD/' },
    ],
  ])('is read by it: %s', (_, type, body, kind, value) => {
    const payload = parse(type, body);
    expect(payload.kind).toBe(kind);
    expect(payload.value).toEqual(value);
    expect(decodePayload(payload.kind, body)).toEqual(value);
  });
});

describe('a multipart form', () => {
  const type = 'multipart/form-data; boundary=xYz';
  const read = (text: string) => {
    const body = Buffer.from(text, 'latin1');
    const payload = parse(type, body);
    expect(decodePayload(payload.kind, body)).toEqual(payload.value);
    return payload;
  };

  it('is an object of its fields, with files in base64', () => {
    const file = 'name="file"; filename="a.png"\r\nContent-Type: image/png';
    const text = part('name="a"', '1') + part('name="a"', '2') + part(file, '\x00\xff');
    const { kind, value } = read(`${text}--xYz--\r\n`);
    expect(kind).toBe('multipart');
    const base64 = Buffer.from([0, 255]).toString('base64');
    expect(value).toEqual({
      a: ['1', '2'],
      file: { filename: 'a.png', content_type: 'image/png', base64 },
    });
  });

  it('has each field in the charset that SendGrid names for it', () => {
    const charsets = part('name="charsets"', '{"text":"iso-8859-1","from":"UTF-8"}');
    const { value } = read(`${charsets}${part('name="text"', 'Jos\xe9')}--xYz--`);
    expect(value).toMatchObject({ text: 'José' });
  });

  it('keeps a field whole that is in no charset it names', () => {
    expect(read(`${part('name="a"', 'Jos\xe9')}--xYz--`).value).toEqual({
      a: { base64: 'Sm9z6Q==' },
    });
  });

  it.each([
    '',
    '--xYz',
    '--xYz\r\n',
    '--xYz\r\n\r\n--xYz--',
    part('name="a"', '1'),
    `${part('name="a"', '1').repeat(1001)}--xYz--`,
  ])('stays text if it is broken: %.20j', (text) => {
    expect(read(text).kind).toBe('text');
  });
});

/** `count` of what `make` gives, as an array or, in braces, an object. */
const many = (count: number, make: (n: number) => string, [open, close] = '[]') =>
  `${open}${Array.from({ length: count }, (_, n) => make(n)).join(',')}${close}`;

/** FNV-1a, mixed down to 18 bits: what a counter of hashes might tell names by. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return (value ^ (value >>> 18)) & 0x3ffff;
}

describe('hostile JSON', () => {
  it.each([
    ['128 arrays', '['.repeat(128) + ']'.repeat(128), 'json'],
    ['129 arrays', '['.repeat(129) + ']'.repeat(129), 'text'],
    ['128 objects', '{"a":'.repeat(128) + '1' + '}'.repeat(128), 'json'],
    ['129 objects', '{"a":'.repeat(129) + '1' + '}'.repeat(129), 'text'],
    ['brackets in a string', JSON.stringify('[{'.repeat(200)), 'json'],
    ['brackets behind an escaped quote', `["\\"${'['.repeat(200)}"]`, 'json'],
    [
      'brackets behind an escaped backslash',
      `["\\\\",${'['.repeat(128)}1${']'.repeat(128)}]`,
      'text',
    ],
    ['many levels beside each other', `[${'[],'.repeat(500)}[]]`, 'json'],
    ['the largest double', '[1.7976931348623157e308,-1.7976931348623157E+308]', 'json'],
    ['a number beyond it', '[1e309]', 'text'],
    ['a negative one', '{"a":-1E+400}', 'text'],
    ['one without an exponent', `[${'9'.repeat(309)}]`, 'text'],
    ['one with many digits and a small exponent', `${'9'.repeat(250)}e60`, 'text'],
    ['a long number that is none of these', `0.${'9'.repeat(500)}e-99`, 'json'],
    ['a small exponent with many digits', '1e-9999', 'json'],
    ['zero with a large exponent', '0e999', 'json'],
    ['a large number in a string', '"1e999"', 'json'],
    ['a string that does not end', '["abc\\', 'text'],
  ])('%s', (_, body, kind) => {
    expect(parse(JSON_TYPE, body).kind).toBe(kind);
  });

  it('keeps dangerous names as plain members', () => {
    const { value } = parse(JSON_TYPE, '{"__proto__":{"polluted":1},"constructor":2,"a":1,"a":2}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1},"constructor":2,"a":2}');
    const form = parse(FORM_TYPE, '__proto__=1&constructor=2&__proto__=3&hasOwnProperty=4').value;
    expect(JSON.stringify(form)).toBe(
      '{"__proto__":["1","3"],"constructor":"2","hasOwnProperty":"4"}',
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('brings NUL and lone surrogates through a round trip', () => {
    const { value } = parse(JSON_TYPE, String.raw`["a\u0000b","\ud800","\udc00x"]`);
    expect(value).toEqual(['a\0b', '\ud800', '\udc00x']);
    expect(isWellFormed(JSON.stringify(value))).toBe(true);
    expect(JSON.parse(JSON.stringify(value))).toEqual(value);
    expect(parse('text/plain', 'a\0b').value).toEqual({ text: 'a\0b' });
    expect(parse(FORM_TYPE, 'a=%00').value).toEqual({ a: '\0' });
  });

  it.each<[string, number, (n: number) => string, string?]>([
    ['numbers', 199_998, () => '1'],
    ['literals', 199_998, () => 'null'],
    ['strings', 99_999, (n) => `"${n}"`],
    ['coordinates', 66_666, () => '[12.345,-6.789]'],
    ['empty arrays', 99_999, () => '[]'],
    ['empty objects', 99_999, () => '{}'],
    ['long numbers', 66_665, () => '1.0000000000000001110223'],
    ['huge numbers', 18_181, () => '1e308'],
    ['names', 49_999, (n) => `"name${n * 7919}" : 1`, '{}'],
    ['names like integers', 49_999, (n) => `"${n * 7919}":1`, '{}'],
    ['names that are one another', 49_999, () => '"a":1', '{}'],
    ['objects with a name each', 39_999, (n) => `{"${n.toString(36)}":1}`],
    ['names and strings', 39_999, (n) => `"${n}":"${n}"`, '{}'],
  ])('counts %s, and takes so many and a few more for text', (_, most, make, brackets) => {
    expect(parse(JSON_TYPE, many(most, make, brackets)).kind).toBe('json');
    expect(parse(JSON_TYPE, many(most + 2, make, brackets)).kind).toBe('text');
  });

  it('takes commas, colons and brackets in strings for no values', () => {
    expect(parse(JSON_TYPE, JSON.stringify(',:{['.repeat(100_000))).kind).toBe('json');
  });

  it('counts names whose hashes are the same like all others', () => {
    const alike: string[] = [];
    for (let n = 0; alike.length < 50_100; n++) {
      const name = n.toString(36);
      if (hash(name) < 10_000) alike.push(name);
    }
    expect(
      parse(
        JSON_TYPE,
        many(50_100, (n) => `"${alike[n]}":0`, '{}'),
      ).kind,
    ).toBe('text');
  });

  it('keeps a form of more than 10,000 fields as text', () => {
    expect(parse(FORM_TYPE, `a=1${'&a=1'.repeat(9_999)}`).kind).toBe('form');
    expect(parse(FORM_TYPE, `a=1${'&a=1'.repeat(10_000)}`).kind).toBe('text');
  });

  it.each(['%', '+', '%41', 'a'])('keeps a form of more than 512 KB of %s as text', (unit) => {
    const longest = unit.repeat(FORM_MAX / unit.length);
    expect(parse(FORM_TYPE, longest).kind).toBe('form');
    expect(parse(FORM_TYPE, `${longest}${unit}`).kind).toBe('text');
  });
});

const SIZE = 5_000_000;

const fill = (unit: string, size: number) => unit.repeat(size / unit.length);

function distinctNames(size: number): string {
  let text = '{';
  for (let i = 0; text.length < size; i++) text += `"${i.toString(36)}":0,`;
  return text;
}

function integerNames(size: number): string {
  let text = '{';
  for (let i = 0; text.length < size; i++) text += `"${i * 7919}":0,`;
  return `${text}"":0}`;
}

describe('five megabytes', () => {
  it.each<[string, string, (size: number) => string, string]>([
    ['opening brackets', JSON_TYPE, (size) => fill('[', size), 'text'],
    ['opening braces', JSON_TYPE, (size) => fill('{"":', size), 'text'],
    ['quotes', JSON_TYPE, (size) => fill('"', size), 'text'],
    ['a string of escapes', JSON_TYPE, (size) => `"${fill('\\\\', size)}"`, 'json'],
    ['digits', JSON_TYPE, (size) => fill('9', size), 'text'],
    ['exponents', JSON_TYPE, (size) => fill('1e', size), 'text'],
    ['minus signs', JSON_TYPE, (size) => fill('-', size), 'text'],
    ['white space', JSON_TYPE, (size) => fill(' ', size), 'text'],
    ['strings and white space', JSON_TYPE, (size) => fill('""      ', size), 'text'],
    ['distinct names', JSON_TYPE, distinctNames, 'text'],
    ['empty objects', JSON_TYPE, (size) => `[${fill('{},', size)}1]`, 'text'],
    ['huge numbers', JSON_TYPE, (size) => `[${fill('1e308,', size)}1]`, 'text'],
    ['tiny numbers', JSON_TYPE, (size) => `[${fill('1e-308,', size)}1]`, 'text'],
    ['small numbers', JSON_TYPE, (size) => `[${fill('1,', size)}1]`, 'text'],
    ['short strings', JSON_TYPE, (size) => `[${fill('"abcdef",', size)}1]`, 'text'],
    ['names like integers', JSON_TYPE, integerNames, 'text'],
    ['coordinates', JSON_TYPE, (size) => `[${fill('[12.345,-6.789],', size)}1]`, 'text'],
    ['long numbers', JSON_TYPE, (size) => `[${fill(`0.${'1'.repeat(40)},`, size)}1]`, 'text'],
    [
      'records',
      JSON_TYPE,
      (size) => `[${fill(`{"id":1,"text":"${'x'.repeat(300)}"},`, size)}1]`,
      'json',
    ],
    ['form separators', FORM_TYPE, (size) => fill('&', size), 'text'],
    ['form escapes', FORM_TYPE, (size) => fill('%41', size), 'text'],
    ['plain text', 'text/plain', (size) => fill('héllo', size), 'text'],
  ])('of %s are read in a time that grows with them and no faster', (_, type, make, kind) => {
    expect(parsePayload(type, Buffer.from(make(SIZE))).kind).toBe(kind);
    const read = (size: number) => parsePayload(type, Buffer.from(make(size)));
    expect(growsInProportion(read, SIZE)).toBe(true);
  });
});

describe('any body of any type', () => {
  const type = fc.constantFrom(undefined, JSON_TYPE, FORM_TYPE, 'text/plain', ';;', 'a/b+json');
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .array(fc.constantFrom(...'[]{}":,\\ue+-.019&=% \ufeff'.split('')), { maxLength: 60 })
      .map((c) => Buffer.from(c.join(''))),
  );

  it('gives a payload that is well-formed JSON and can be made again', () => {
    fc.assert(
      fc.property(type, body, (contentType, bytes) => {
        const { kind, value } = parsePayload(contentType, bytes);
        const text = JSON.stringify(value);
        expect(isWellFormed(text)).toBe(true);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        // Its numbers are as they were written, which is the same to a reader of doubles.
        expect(JSON.stringify(decodePayload(kind, bytes))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('is decoded without throwing under a kind that does not fit', () => {
    fc.assert(
      fc.property(fc.constantFrom('json', 'form', 'text', 'base64'), body, (kind, bytes) => {
        expect(decodePayload(kind, bytes)).toBeDefined();
      }),
    );
  });

  it('is JSON exactly when JSON.parse says so, for small bodies', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (text) => {
        expect(parseBoundedJson(Buffer.from(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('a JSON object that calls itself a form, as curl does by default', () => {
  const form = 'application/x-www-form-urlencoded';

  it('is the JSON it is', () => {
    expect(parsePayload(form, Buffer.from('{"a":1}'))).toEqual({ kind: 'json', value: { a: 1 } });
  });

  it('stays a form when it is no JSON', () => {
    expect(parsePayload(form, Buffer.from('{a=1')).kind).toBe('form');
    expect(parsePayload(form, Buffer.from('a={"b":1}')).value).toEqual({ a: '{"b":1}' });
  });
});
