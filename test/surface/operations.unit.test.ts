import { existsSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { fieldKinds, fromTexts, jsonSchema } from '../../shared/api/fields.ts';
import { ERROR_CODES } from '../../shared/lib/errors.ts';
import { parseInput, type Operation } from '../../shared/kernel/operation.ts';
import { operations } from '../../shared/operations/index.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** A value as it is typed into a query or on a command line. */
function asTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return [typeof value === 'string' ? value : JSON.stringify(value)];
}

function properties(operation: Operation): Record<string, Record<string, unknown>> {
  return jsonSchema(operation.input, 'input')['properties'] as Record<
    string,
    Record<string, unknown>
  >;
}

describe('all operations', () => {
  it('have names and routes of their own', () => {
    expect(repeated(operations.map(({ name }) => name))).toEqual([]);
    // The names of parameters do not tell routes apart.
    const shapes = operations
      .filter(({ rest }) => rest.when === undefined)
      .map(({ rest }) => `${rest.method} ${rest.path.replace(/\{\w+/, '{')}`);
    expect(repeated(shapes)).toEqual([]);
  });

  it('share a route only where a field of the body tells which is meant', () => {
    const told = operations.filter(({ rest }) => rest.when !== undefined);
    expect(told.map(({ name, rest }) => [name, rest.when])).toEqual([['ask_human', 'question']]);
    for (const { rest, input } of told) {
      const { method, path, when = '' } = rest;
      const [first, ...others] = operations.filter(
        (one) => one.rest.method === method && one.rest.path === path,
      );
      // The first is the one that is meant otherwise, and all else is alike.
      expect(first?.rest).toEqual({ ...rest, when: undefined });
      expect(others.map((one) => one.rest.when)).toEqual([when]);
      expect(jsonSchema(input, 'input')['required']).toContain(when);
      expect(Object.keys(first?.input.shape ?? {})).not.toContain(when);
      expect(first).toMatchObject({ effect: 'write', scope: others[0]?.scope });
      expect(first?.output).toBe(others[0]?.output);
    }
  });

  it('have commands of their own', () => {
    expect(repeated(operations.map(({ cli }) => cli.usage.replace(/ [<[].*/, '')))).toEqual([]);
  });

  it('have routes under /v1', () => {
    expect(operations.filter(({ rest }) => !/^\/v1\/[a-z]/.test(rest.path))).toEqual([]);
  });
});

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s',
  (name, operation) => {
    const { rest, cli, summary, description, effect, errors, handler } = operation;
    const [noun = '', ...verb] = name.split('_');

    it('stands in the file of its name', () => {
      const file = verb.length > 0 ? `${noun}/${verb.join('-')}` : noun;
      expect(existsSync(`shared/operations/${file}.ts`)).toBe(true);
    });

    it('is the command of its name', () => {
      const parts = cli.usage.split(' ');
      const words = parts.filter((part) => !/^[<[]/.test(part));
      expect(words).toEqual(name.split('_'));
      const positional = parts.slice(words.length);
      expect(positional.every((part) => /^<\w+>$|^\[\w+\]$/.test(part))).toBe(true);
      const fields = positional.map((part) => part.slice(1, -1));
      expect(Object.keys(properties(operation))).toEqual(expect.arrayContaining(fields));
      // A body of bytes has no place on a command line; everything else shows how it is used.
      expect(cli.examples.length).toBeGreaterThan(0);
      expect(cli.examples.filter((line) => !`${line} `.startsWith(`${words.join(' ')} `))).toEqual(
        [],
      );
    });

    it('finds its path parameters among its fields', () => {
      const inPath = [...rest.path.matchAll(/\{(\w+)\+?\}/g)].map((found) => found[1] ?? '');
      const filled = inPath.map((parameter) => rest.params?.[parameter] ?? parameter);
      const { shape } = operation.input;
      expect(filled.filter((field) => !(field in shape))).toEqual([]);
      expect(Object.keys(rest.params ?? {}).filter((named) => !inPath.includes(named))).toEqual([]);
      const required = (jsonSchema(operation.input, 'input')['required'] ?? []) as string[];
      expect(required).toEqual(expect.arrayContaining(filled));
      // `{name+}` takes all the rest, so nothing may follow it.
      expect(rest.path.slice(0, -1)).not.toContain('+}/');
    });

    it('has fields that can be written as text', () => {
      const kinds = fieldKinds(operation);
      const unfit = [...kinds].filter(([field, kind]) => {
        const { type, items } = properties(operation)[field] ?? {};
        if (kind === 'list') return (items as { type?: string } | undefined)?.type !== 'string';
        return kind === 'json' && type !== undefined && type !== 'object';
      });
      expect(unfit).toEqual([]);
      const example = Object.entries(operation.example);
      const read = example.map(([field, value]) => [
        field,
        fromTexts(kinds.get(field) ?? 'json', asTexts(value)),
      ]);
      expect(read).toEqual(example);
      // A query has no place for objects.
      const inQuery = rest.method === 'GET' || rest.method === 'DELETE';
      expect(inQuery && [...kinds.values()].includes('json')).toBe(false);
    });

    it('describes each field', () => {
      const bare = Object.entries(properties(operation))
        .filter(([, schema]) => !/^[A-Z`].*\.$/.test(schema['description'] as string))
        .map(([field]) => field);
      expect(bare).toEqual([]);
    });

    it('declares codes of the table, once', () => {
      expect(errors.filter((code) => !ERROR_CODES.includes(code))).toEqual([]);
      expect(repeated(errors)).toEqual([]);
      expect(errors).not.toContain('INTERNAL');
      expect(errors).not.toContain('VALIDATION_FAILED');
    });

    it('says what it does in a line, and more in at most 400 characters', () => {
      expect(summary).toMatch(/^[A-Z][^\n]*\.$/);
      expect(summary.length).toBeLessThanOrEqual(80);
      expect(description).toMatch(/^[A-Z][^\n]*\.$/);
      expect(description.length).toBeLessThanOrEqual(400);
    });

    it('has an example that its schema takes', () => {
      expect(() => parseInput(operation, operation.example)).not.toThrow();
      const validate = ajv.compile(jsonSchema(operation.input, 'input'));
      validate(operation.example);
      expect(validate.errors).toBeNull();
    });

    it('refuses fields it does not know', () => {
      expect(() => parseInput(operation, { ...operation.example, surprise: 1 })).toThrow(
        'The request is invalid.',
      );
    });

    it('has a handler and a method that fit its effect', () => {
      const fits = {
        read: { handlers: ['read', 'long'], methods: ['GET', 'POST'] },
        wait: { handlers: ['long'], methods: ['GET'] },
        write: { handlers: ['write'], methods: ['POST', 'PUT', 'DELETE'] },
      }[effect];
      expect(fits.handlers).toContain(handler.kind);
      expect(fits.methods).toContain(rest.method);
      expect(operation.replica === 'local' && effect === 'write').toBe(false);
    });
  },
);

describe('tools', () => {
  const tools = operations.flatMap(({ mcp, ...rest }) => (mcp === false ? [] : [{ mcp, ...rest }]));

  it('have titles', () => {
    expect(tools.filter(({ mcp }) => !/^[A-Z][^\n.]*$/.test(mcp.title))).toEqual([]);
  });

  it('destroy only what they write', () => {
    const odd = tools.filter(({ mcp, effect }) => mcp.destructive === true && effect !== 'write');
    expect(odd).toEqual([]);
  });

  it('say in their hints too that they pass on text from outside, or let something out', () => {
    const namesOf = (some: typeof tools): string[] => some.map(({ name }) => name);
    const passing = tools.filter(({ mcp }) => mcp.untrusted !== undefined);
    expect(namesOf(passing)).toEqual([
      'inbox_list',
      'inbox_wait',
      'inbox_get',
      'inbox_claim',
      // Attachments, and what mail servers said.
      'file_list',
      'file_get',
      'email_send',
      'email_status',
    ]);
    const open = tools.filter(({ mcp }) => mcp.openWorld === true);
    // Messaging say what comes back, or are written to.
    const ofPeople = [
      'ask_approval',
      'ask_human',
      'request_status',
      'channel_add',
      'policy_set',
      'file_url',
    ];
    expect(new Set(namesOf(open))).toEqual(new Set([...namesOf(passing), ...ofPeople]));
  });
});
