import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  fieldKinds,
  fromTexts,
  jsonSchema,
  type FieldKind,
} from '../../../shared/bindings/fields.ts';
import { defineOperation } from '../../../shared/operation.ts';

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
  example: { text: '', choice: 'a', count: 1, share: 1, tags: [], map: {}, either: 1 },
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
