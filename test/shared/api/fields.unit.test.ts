import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fieldKinds, fromTexts, jsonSchema, type FieldKind } from '../../../shared/api/fields.ts';
import { defineOperation } from '../../../shared/kernel/operation.ts';

const bytes = z
  .custom<string | Uint8Array>((value) => typeof value === 'string' || value instanceof Uint8Array)
  .meta({ type: 'string', contentEncoding: 'base64', description: 'Some bytes.' });

const input = z.strictObject({
  text: z.string(),
  choice: z.enum(['a', 'b']),
  count: z.int(),
  share: z.number(),
  flag: z.boolean().default(true),
  tags: z.array(z.string()),
  when: z
    .string()
    .transform((text) => text.length)
    .optional(),
  any: z.json().optional(),
  map: z.record(z.string(), z.string()),
  either: z.union([z.string(), z.int()]),
  bytes: bytes.describe('Bytes.'),
  read: bytes.transform((value) => Buffer.from(value)).optional(),
});

const operation = defineOperation({
  name: 'test_kinds',
  summary: 'Kinds.',
  description: 'Kinds.',
  scope: 'any',
  input,
  output: z.object({}),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/test' },
  mcp: false,
  cli: { usage: 'test kinds', examples: [] },
  example: { text: '', choice: 'a', count: 1, share: 1, tags: [], map: {}, either: 1, bytes: '' },
}).read(async () => ({}));

describe('the kind of a field', () => {
  it('follows from its schema', () => {
    expect(Object.fromEntries(fieldKinds(operation))).toEqual({
      text: 'string',
      choice: 'string',
      count: 'integer',
      share: 'number',
      flag: 'boolean',
      tags: 'list',
      when: 'string',
      any: 'json',
      map: 'json',
      either: 'json',
      bytes: 'string',
      read: 'string',
    });
  });
});

describe('a value written as text', () => {
  it.each<[FieldKind, string, unknown]>([
    ['string', '12', '12'],
    ['string', '', ''],
    ['integer', '12', 12],
    ['integer', '-3', -3],
    ['integer', '2.5', 2.5],
    ['number', '2.5', 2.5],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['json', '{"a":[1]}', { a: [1] }],
    ['json', 'null', null],
  ])('%s %j is %j', (kind, text, value) => {
    expect(fromTexts(kind, [text])).toEqual(value);
  });

  it.each<[FieldKind, string]>([
    ['integer', ''],
    ['integer', ' 1'],
    ['integer', '1e3'],
    ['integer', '0x10'],
    ['integer', '+1'],
    ['integer', 'Infinity'],
    ['integer', '1_000'],
    ['number', '1,5'],
    ['number', '.5'],
    ['number', 'NaN'],
    ['boolean', 'True'],
    ['boolean', '1'],
    ['boolean', ''],
    ['json', 'plain'],
    ['json', '{'],
  ])('%s %j stays text, for validation to name it', (kind, text) => {
    expect(fromTexts(kind, [text])).toBe(text);
  });

  it('is the last where one is wanted, and all of them for a list', () => {
    expect(fromTexts('integer', ['1', '2'])).toBe(2);
    expect(fromTexts('list', ['a', 'b,c'])).toEqual(['a', 'b,c']);
    expect(fromTexts('list', ['a'])).toEqual(['a']);
  });
});

describe('jsonSchema', () => {
  it('tells a caller what may be left out, and a reader what is always there', () => {
    const schema = z.object({ limit: z.int().default(20) });
    expect(jsonSchema(schema, 'input')['required']).toBeUndefined();
    expect(jsonSchema(schema, 'output')['required']).toEqual(['limit']);
  });

  it('states no range that every number is in', () => {
    expect(jsonSchema(z.object({ count: z.int() }), 'output')['properties']).toEqual({
      count: { type: 'integer' },
    });
    expect(jsonSchema(z.object({ count: z.int().min(1) }), 'output')['properties']).toEqual({
      count: { type: 'integer', minimum: 1 },
    });
  });

  it('shows bytes as their base64, whatever becomes of them', () => {
    const base64 = { type: 'string', contentEncoding: 'base64' };
    const { properties, required } = jsonSchema(input, 'input');
    expect(properties).toMatchObject({
      bytes: { ...base64, description: 'Bytes.' },
      read: { ...base64, description: 'Some bytes.' },
    });
    expect(required).toContain('bytes');
    expect(required).not.toContain('read');
    const piped = z.strictObject({ it: bytes.pipe(z.custom<Uint8Array>()) });
    expect(jsonSchema(piped, 'input')['properties']).toMatchObject({ it: base64 });
  });

  it('refers to nothing: it becomes part of other documents', () => {
    const schema = jsonSchema(z.strictObject({ any: z.json().describe('Any JSON.') }), 'input');
    expect(schema).toEqual({
      type: 'object',
      properties: { any: { description: 'Any JSON.' } },
      required: ['any'],
      additionalProperties: false,
    });
    expect(JSON.stringify(jsonSchema(input, 'input'))).not.toContain('$');
  });
});
