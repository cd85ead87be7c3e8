import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ReadContext, WriteContext } from '../../../shared/kernel/context.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { defineOperation, parseInput } from '../../../shared/kernel/operation.ts';

const declaration = {
  name: 'test_make',
  summary: 'Make.',
  description: 'Makes.',
  scope: 'any',
  input: z.strictObject({
    name: z.string().min(2),
    count: z.int().max(9).default(1),
    options: z.array(z.strictObject({ label: z.string() })).optional(),
  }),
  output: z.object({ name: z.string(), id: z.string() }),
  errors: [],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/test' },
  mcp: false,
  cli: { usage: 'test make', examples: [] },
  example: { name: 'ab' },
} as const;

const make = defineOperation({
  ...declaration,
  subject: (input, output) => `${input.name}/${output.id}`,
}).write({ commit: async (_context, { name }) => ({ name, id: 'one' }) });

function refusal(input: unknown): unknown {
  try {
    return parseInput(make, input);
  } catch (error) {
    if (error instanceof ServiceError) return error.details?.['fields'];
    throw error;
  }
}

describe('parseInput', () => {
  it('fills in defaults and leaves the given input as it is', () => {
    const given = { name: 'ab' };
    expect(parseInput(make, given)).toEqual({ name: 'ab', count: 1 });
    expect(given).toEqual({ name: 'ab' });
  });

  it('names every problem at once, each by its path', () => {
    expect(refusal({ name: 'a', count: '3', options: [{ label: 'x' }, { label: 4 }] })).toEqual([
      { path: 'name', message: expect.stringContaining('2') },
      { path: 'count', message: expect.stringContaining('number') },
      { path: 'options[1].label', message: expect.stringContaining('string') },
    ]);
  });

  it('names each unknown field', () => {
    expect(refusal({ name: 'ab', colour: 1, size: 2, options: [{ label: 'x', deep: 1 }] })).toEqual(
      [
        { path: 'options[0].deep', message: 'Unknown field.' },
        { path: 'colour', message: 'Unknown field.' },
        { path: 'size', message: 'Unknown field.' },
      ],
    );
  });

  it('takes no input for an empty one', () => {
    expect(refusal(undefined)).toEqual([{ path: 'name', message: 'This field is required.' }]);
    expect(refusal(null)).toEqual(refusal(undefined));
  });

  it.each([['text'], [7], [true], [['a']]])('refuses what is no object (%j)', (input) => {
    expect(refusal(input)).toEqual([{ path: '', message: expect.stringContaining('object') }]);
  });

  it('takes an own __proto__ for the unknown field it is', () => {
    const input: unknown = JSON.parse('{"name":"ab","__proto__":{"count":9}}');
    expect(refusal(input)).toEqual([{ path: '__proto__', message: 'Unknown field.' }]);
  });
});

describe('defineOperation', () => {
  it('keeps what was declared, and says what a write is filed under', () => {
    expect(make).toMatchObject({ name: 'test_make', rest: { path: '/v1/test' }, effect: 'write' });
    expect(make.example).toEqual({ name: 'ab' });
    expect(make.subjectOf({ name: 'ab' }, { id: 'one' })).toBe('ab/one');
    const plain = defineOperation(declaration).read(async () => ({ name: 'ab', id: 'one' }));
    expect(plain.subjectOf({ name: 'ab' }, { id: 'one' })).toBeNull();
  });

  it('makes three kinds of handlers', async () => {
    const answer = { name: 'ab', id: 'one' };
    const read = defineOperation(declaration).read(async () => answer);
    const long = defineOperation(declaration).long(async () => answer);
    expect([read.handler.kind, long.handler.kind, make.handler.kind]).toEqual([
      'read',
      'long',
      'write',
    ]);
    if (read.handler.kind !== 'read' || make.handler.kind !== 'write') throw new Error('kinds');
    expect(await read.handler.run({} as ReadContext, { name: 'ab' })).toEqual(answer);
    expect(await make.handler.commit({} as WriteContext, { name: 'ab' }, undefined)).toEqual(
      answer,
    );
  });
});
