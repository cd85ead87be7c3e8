import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { invalid, ServiceError, type FieldProblem } from '../../../shared/lib/errors.ts';
import { parseFields, parseInput } from '../../../shared/kernel/operation.ts';
import { operations } from '../../../shared/operations/index.ts';

function problemsIn(parse: () => unknown): readonly FieldProblem[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ServiceError) return (error.details?.['fields'] ?? []) as FieldProblem[];
    throw error;
  }
  return [];
}

describe('what is wrong with a field', () => {
  it.each<[string, z.ZodType, unknown]>([
    ['This field is required.', z.string(), undefined],
    ['This field is required.', z.enum(['a', 'b']), undefined],
    ['Must be a string.', z.string(), 1],
    ['Must be a number.', z.number(), null],
    ['Must be a number.', z.number(), Number.NaN],
    ['Must be a whole number.', z.int(), 1.5],
    ['Must be true or false.', z.boolean(), 'yes'],
    ['Must be a list.', z.array(z.string()), {}],
    ['Must be an object.', z.strictObject({}), []],
    ['Must be an object.', z.record(z.string(), z.unknown()), 'x'],
    ['Must not be empty.', z.string().min(1), ''],
    ['Must not be empty.', z.array(z.string()).min(1), []],
    ['Must have at least 3 characters.', z.string().min(3), 'ab'],
    ['Must have at most 1 character.', z.string().max(1), 'ab'],
    ['Must have at most 2 items.', z.array(z.int()).max(2), [1, 2, 3]],
    ['Must be at least 30.', z.int().min(30), 4],
    ['Must be at least 1.', z.int().min(1), 0],
    ['Must be at most 100.', z.int().max(100), 101],
    ['Must be more than 0.', z.number().positive(), 0],
    ['Must be less than 5.', z.number().lt(5), 5],
    ['Must be one of `low`, `high`.', z.enum(['low', 'high']), 'x'],
    ['Must be `done`.', z.literal('done'), 'x'],
    ['Must be base64.', z.base64(), '?'],
    ['Must be of another form.', z.string().regex(/^a$/), 'b'],
    ['Said so itself.', z.string('Said so itself.'), 1],
  ])('is told as: %s', (message, schema, value) => {
    expect(problemsIn(() => parseFields(z.strictObject({ it: schema }), { it: value }))).toEqual([
      { path: 'it', message },
    ]);
  });

  it('is told in our words by every operation, whatever comes', () => {
    const values = [undefined, null, true, -1, 1.5, 1e12, '', 'x'.repeat(3_000_000), [], [{}], {}];
    const messages = new Set<string>();
    for (const operation of operations) {
      for (const name of Object.keys(operation.input.shape)) {
        for (const value of values) {
          const input = { ...operation.example, [name]: value };
          for (const { message } of problemsIn(() => parseInput(operation, input))) {
            messages.add(message);
          }
        }
      }
    }
    expect(messages.size).toBeGreaterThan(20);
    for (const message of messages) expect(message).toMatch(/^[A-Z].*[.]$/);
    expect(
      [...messages].filter((message) => /received|Invalid|Too |of another form/.test(message)),
    ).toEqual([]);
  });

  it('is listed in one line, a sentence each', () => {
    const schema = z.strictObject({ event_id: z.string(), limit: z.int().max(100) });
    const fields = problemsIn(() => parseFields(schema, { limit: 101 }));
    expect(invalid(...fields).line()).toBe(
      'VALIDATION_FAILED: The request is invalid. event_id: This field is required. limit: Must be at most 100. Fix the listed fields.',
    );
  });
});
