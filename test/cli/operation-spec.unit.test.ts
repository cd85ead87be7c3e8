import { describe, expect, it } from 'vitest';
import type { FieldShape, OperationShape } from '../../cli/call/operation-shape.ts';
import { operationSpec } from '../../cli/call/operation-spec.ts';
import { commandHelp } from '../../cli/view/help/help.ts';
import { typedProblem } from '../../cli/view/typed-names.ts';

const field = (name: string, more: Partial<FieldShape> = {}): FieldShape => ({
  name,
  type: 'string',
  summary: 'Said.',
  required: false,
  ...more,
});

function specOf(fields: readonly FieldShape[], positional: readonly string[] = []) {
  const shape: OperationShape = {
    name: 'kv_set',
    words: ['thing', 'do'],
    positional: positional.map((name) => ({ name, required: true })),
    summary: 'Do it.',
    description: 'Does it.',
    method: 'POST',
    path: '/v1/things',
    params: {},
    effect: 'write',
    fields,
    examples: ['thing do'],
    defaults: {},
  };
  return operationSpec(shape, {}, () => Promise.reject(new Error('Not run here.')));
}

describe('the line of a flag', () => {
  it.each<[Partial<FieldShape>, string]>([
    [{}, 'Said'],
    [
      { type: 'integer', minimum: 30, maximum: 3600, default: 300 },
      'Said (30 to 3600, default 300)',
    ],
    [{ type: 'integer', minimum: 1, required: true }, 'Said (required; at least 1)'],
    [{ type: 'number', maximum: 2 }, 'Said (up to 2)'],
    [{ minLength: 1, maxLength: 100 }, 'Said (up to 100 characters)'],
    [{ minLength: 8, maxLength: 64 }, 'Said (8 to 64 characters)'],
    [{ minLength: 1 }, 'Said'],
    [{ type: 'integer', minimum: 0 }, 'Said'],
    [{ type: 'integer', minimum: 0, maximum: 9 }, 'Said (0 to 9)'],
    [{ summary: 'At most 512 bytes.', maxLength: 512 }, 'At most 512 bytes'],
    [
      { maxLength: 65_536, text: true, required: true },
      'Said (required; up to 65,536 characters; text, @file or -)',
    ],
    [{ type: 'boolean', default: true }, 'Said (default true)'],
  ])('%j', (more, line) => {
    expect(specOf([field('wish', more)]).options[0]?.summary).toBe(line);
    expect(commandHelp(specOf([field('wish', more)]))).toContain(line);
  });

  it('is alike for an argument, which also brings its values', () => {
    const fields = [
      field('name', { maxLength: 63 }),
      field('kind', { choices: ['a', 'b'] }),
      field('value', { type: 'json' }),
    ];
    expect(specOf(fields, ['name', 'kind', 'value']).args).toEqual([
      { name: 'name', required: true, summary: 'Said (up to 63 characters)' },
      { name: 'kind', required: true, summary: 'Said', choices: ['a', 'b'] },
      { name: 'value', required: true, summary: 'Said (JSON, @file or -)' },
    ]);
  });
});

describe('a problem with a field', () => {
  const spec = specOf(
    [field('event_id'), field('from_seq'), field('type'), field('options')],
    ['event_id'],
  );

  it.each([
    ['event_id', 'Wrong.', '<event_id>: Wrong.'],
    ['type', 'Wrong.', '--type: Wrong.'],
    ['options[2].label', 'Wrong.', '--options[2].label: Wrong.'],
    ['surprise', 'Unknown field.', 'surprise: Unknown field.'],
    ['toString', 'Unknown field.', 'toString: Unknown field.'],
    ['', 'Must be an object.', 'Must be an object.'],
    ['type', 'Not before from_seq, of this type.', '--type: Not before --from-seq, of this type.'],
    ['type', 'Not with hmac_sha256.', '--type: Not with hmac_sha256.'],
  ])('%s: %s', (path, message, line) => {
    expect(typedProblem(path, message, spec)).toBe(line);
  });
});
