import { describe, expect, it } from 'vitest';
import { jsonSchema } from '../../shared/api/fields.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { parseInput, type Operation } from '../../shared/kernel/operation.ts';
import { operations } from '../../shared/operations/index.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
}

const TEXTS = ['', 'a\u0007b', 'a\u0085b', 'a\nb', 'a\0b'];
const LISTS = [[], ['a', 'a'], ...TEXTS.map((text) => [text])];

function takesText({ minLength = 0, maxLength = 1e9, ...schema }: Schema, text: string): boolean {
  if (schema.enum) return schema.enum.includes(text);
  const fits = text.length >= minLength && text.length <= maxLength;
  return fits && new RegExp(schema.pattern ?? '').test(text);
}

function takesList({ minItems = 0, uniqueItems, items = {} }: Schema, list: string[]): boolean {
  if (list.length < minItems || (uniqueItems && new Set(list).size < list.length)) return false;
  return list.every((text) => takesText(items, text));
}

/** Whether the operation complains about this value of a field. */
function refuses(operation: Operation, field: string, value: unknown): boolean {
  try {
    parseInput(operation, { ...operation.example, [field]: value });
    return false;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { fields } = error.body().error.details as { fields: { path: string }[] };
    return fields.some(({ path }) => path === field || path.startsWith(`${field}.`));
  }
}

/** Times, which are written in several ways, and base64, which the schema calls so. */
const FORMS = new Set(['expires_at', 'since', 'before', 'until', 'content_base64']);

describe.each(operations.map((one) => [one.name, one] as const))('the schema of %s', (_, one) => {
  const properties = jsonSchema(one.input, 'input')['properties'] as Record<string, Schema>;

  it('refuses what the service refuses: empty names, control characters, empty lists', () => {
    const unsaid = Object.entries(properties).flatMap(([field, schema]) => {
      if (FORMS.has(field)) return [];
      const values =
        schema.items?.type === 'string'
          ? LISTS.filter((list) => takesList(schema, list))
          : TEXTS.filter((text) => schema.type === 'string' && takesText(schema, text));
      const refused = values.filter((value) => refuses(one, field, value));
      return refused.map((value) => `${field} ${JSON.stringify(value)}`);
    });
    expect(unsaid).toEqual([]);
  });
});
