import { describe, expect, it } from 'vitest';
import { parseInput, type Operation } from '../../shared/kernel/operation.ts';
import type { FieldProblem, ServiceError } from '../../shared/lib/errors.ts';
import { operations } from '../../shared/operations/index.ts';
import { openApiText } from './files.ts';

const LONG = 'x'.repeat(70_000);
const PLAIN = [undefined, null, 0, -1, 1.5, 1e9, true, '', ' ', 'x', '\u0000', LONG];
const HOSTILE = [...PLAIN, [], [1], ['x', 'x'], [LONG], {}, { a: 1 }, { rules: 1 }];

/** What an operation says about a value in one of its fields. */
function problems(operation: Operation, field: string, value: unknown): readonly FieldProblem[] {
  try {
    parseInput(operation, { ...operation.example, [field]: value });
    return [];
  } catch (error) {
    const { code, details } = error as ServiceError;
    return code === 'VALIDATION_FAILED' ? (details?.['fields'] as FieldProblem[]) : [];
  }
}

describe.each(operations)('what $name says about a wrong field', (operation) => {
  const fields = [...Object.keys(operation.input.shape), 'unknown_field'];
  const said = fields.flatMap((field) =>
    HOSTILE.flatMap((value) => problems(operation, field, value)),
  );

  it('names the field in a sentence of our own', () => {
    const library = /received|invalid|undefined|\bNaN\b|too (?:big|small)|regex|pattern/i;
    expect(said.filter(({ path }) => path === '')).toEqual([]);
    expect(said.map(({ message }) => message).filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual(
      [],
    );
    expect(said.filter(({ message }) => library.test(message))).toEqual([]);
  });

  it('says of a text in place of a list only that', () => {
    const messages = fields.map((field) =>
      problems(operation, field, LONG).map((one) => one.message),
    );
    const aboutLists = messages.filter((all) => all.includes('Must be a list.'));
    expect(aboutLists.filter((all) => all.length > 1)).toEqual([]);
  });
});

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

/** The fields of a schema without a description, at any depth. A reference has that of its target. */
function undescribed(schema: Schema, path: string): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined && field.$ref === undefined ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ]);
  const { properties: _, ...rest } = schema;
  const below = Object.values(rest)
    .flat()
    .filter((one): one is Schema => typeof one === 'object' && one !== null)
    .flatMap((one) => undescribed(one, `${path}[]`));
  return [...own, ...below];
}

describe('the named schemas of the OpenAPI document', () => {
  const { components } = JSON.parse(openApiText()) as {
    components: { schemas: Record<string, Schema> };
  };

  it.each(Object.entries(components.schemas))('%s describes itself and its fields', (name, one) => {
    expect(one.description).toMatch(/^\S.*\.$/);
    expect(undescribed(one, name)).toEqual([]);
  });

  it('finds a field without a description, however deep', () => {
    const schema = { properties: { a: { description: 'A.', items: { properties: { b: {} } } } } };
    expect(undescribed(schema, 'S')).toEqual(['S.a[].b']);
  });

  it('describe what VALIDATION_FAILED says about fields', () => {
    const { ErrorDetails, FieldProblem } = components.schemas;
    expect(ErrorDetails?.properties?.['fields']).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/FieldProblem' },
    });
    expect(Object.keys(FieldProblem?.properties ?? {})).toEqual(['path', 'message']);
  });

  it('list every error code', () => {
    expect(components.schemas['ErrorCode']).toMatchObject({
      type: 'string',
      enum: expect.arrayContaining(['VALIDATION_FAILED', 'LEASE_EXPIRED', 'INTERNAL']),
    });
  });
});
