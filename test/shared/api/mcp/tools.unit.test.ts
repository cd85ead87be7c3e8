import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inputSchema, outputSchema } from '../../../../shared/api/mcp/schema.ts';
import { toolList, ToolBook } from '../../../../shared/api/mcp/tools.ts';
import { operations } from '../../../../shared/operations/index.ts';
import { SCOPES } from '../../../../shared/lib/scopes.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import { isObject } from '../../../../shared/lib/guards.ts';
import { foreignEvent } from './fake.ts';
import { rawOperations } from '../raw-fixture.ts';

/** An agent pays for every byte of the list. */
const LIST_MAX_BYTES = 48 * 1024;
/** What stands around the list in an answer. */
const ENVELOPE_BYTES = 250;
const DESCRIPTION_MAX_CHARS = 400;

const all = toolList(operations, SCOPES);

function validator(name: string, side: 'inputSchema' | 'outputSchema'): ValidateFunction {
  const schema = all.find((tool) => tool.name === name)?.[side];
  return new Ajv2020({ strict: false }).compile(schema ?? false);
}

describe('tool list', () => {
  it('holds the operations with a tool, in their order', () => {
    const expected = operations.filter((operation) => operation.mcp).map(({ name }) => name);
    expect(all.map(({ name }) => name)).toEqual(expected);
  });

  it('shows a key only what its scopes allow', () => {
    const names = toolList(operations, ['inbox:read']).map(({ name }) => name);
    expect(names).toEqual(['whoami', 'session_hello', 'inbox_list', 'inbox_wait', 'inbox_get']);
  });

  it('stays within its budget', () => {
    const bytes = Buffer.byteLength(JSON.stringify(all));
    expect(bytes).toBeLessThan(LIST_MAX_BYTES - ENVELOPE_BYTES);
    for (const { description } of all) {
      expect(description.length).toBeLessThanOrEqual(DESCRIPTION_MAX_CHARS);
    }
  });

  it('carries no keyword that says nothing', () => {
    expect(JSON.stringify(all)).not.toMatch(/\$schema|\$ref|\$defs|propertyNames|9007199254740991/);
  });

  it('marks what tools do', () => {
    const remove = all.find(({ name }) => name === 'source_remove');
    expect(remove?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: false,
    });
    const reading = toolList(operations, ['inbox:read']).find(({ name }) => name === 'inbox_wait');
    expect(reading?.annotations).toEqual({ readOnlyHint: true, openWorldHint: true });
    expect(reading?.inputSchema['properties']).not.toHaveProperty('claim');
    // It can claim what it waits for.
    const claiming = all.find(({ name }) => name === 'inbox_wait');
    expect(claiming?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      openWorldHint: true,
    });
    expect(claiming?.inputSchema['properties']).toHaveProperty('claim');
    const set = all.find(({ name }) => name === 'kv_set');
    expect(set?.annotations).toMatchObject({ idempotentHint: true });
  });

  it.each(operations.filter(({ mcp }) => mcp))('has schemas that fit $name', (operation) => {
    const check = validator(operation.name, 'inputSchema');
    expect(check(operation.example)).toBe(true);
    expect(check({ ...operation.example, unknown_field: 1 })).toBe(false);
    expect(() => validator(operation.name, 'outputSchema')).not.toThrow();
  });

  it('declares answers as they are, and refuses others', () => {
    const wait = validator('inbox_wait', 'outputSchema');
    expect(wait({ event: null })).toBe(true);
    expect(wait({ event: foreignEvent() })).toBe(true);
    expect(wait({ event: { id: 7 } })).toBe(false);
    const list = validator('inbox_list', 'outputSchema');
    expect(list({ items: [foreignEvent()], next_cursor: null })).toBe(true);
    expect(list({ items: [{ status: 'lost' }], next_cursor: null })).toBe(false);
    const verify = validator('ledger_verify', 'outputSchema');
    expect(verify({ ok: true, reason: null, head: null })).toBe(true);
    expect(verify({ ok: true, reason: 'bad luck' })).toBe(false);
  });

  it('shows the little of an event that an agent needs', () => {
    const claim = all.find(({ name }) => name === 'inbox_claim');
    expect(Object.keys(claim?.outputSchema?.['properties'] ?? {})).toEqual([
      'id',
      'type',
      'trust',
      'status',
      'lease_id',
      'lease_expires_at',
      'resumed',
      'untrusted',
    ]);
  });
});

/** Where a schema uses what some clients refuse or drop: a list of types, nothing at all, `true`, an address elsewhere. */
function unportable(schema: unknown, path: string): string[] {
  if (!isObject(schema)) return [path];
  const { type, $ref, ...rest } = schema;
  const saysSomething = CONSTRAINTS.some((keyword) => keyword in schema);
  const own = Array.isArray(type) || $ref !== undefined || !saysSomething ? [path] : [];
  const children = Object.entries(rest).flatMap(([keyword, value]) =>
    childrenOf(keyword, value).map(([name, child]) => [`${path}.${name}`, child] as const),
  );
  return [...own, ...children.flatMap(([name, child]) => unportable(child, name))];
}

const CONSTRAINTS = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not'];

function childrenOf(keyword: string, value: unknown): [string, unknown][] {
  if (keyword === 'properties' && isObject(value)) return Object.entries(value);
  if (['anyOf', 'oneOf', 'allOf'].includes(keyword) && Array.isArray(value)) {
    return value.map((one: unknown, index) => [`${keyword}[${index}]`, one]);
  }
  const isChild = keyword === 'items' || (keyword === 'additionalProperties' && value !== false);
  return isChild ? [[keyword, value]] : [];
}

describe('schemas', () => {
  it('use nothing that a client may refuse or drop', () => {
    const bad = all.flatMap(({ name, inputSchema: taken, outputSchema: answered }) => [
      ...unportable(taken, `${name} takes`),
      ...(answered ? unportable(answered, `${name} answers`) : []),
    ]);
    expect(bad).toEqual([]);
    expect(unportable({ type: 'object', properties: { a: {}, b: true } }, 'x')).toHaveLength(2);
    expect(unportable({ type: ['string', 'null'] }, 'x')).toEqual(['x']);
  });

  it('of policy_set tell how a policy is written', () => {
    const takes = validator('policy_set', 'inputSchema');
    const whole = {
      id: 'small',
      effect: 'auto_approve',
      action: ['payment.*'],
      tool: ['email_send'],
      amount_gt: 1,
      amount_lte: 100,
      risk: ['low'],
      recipient_domains: ['example.com'],
      approvers: ['chn_01j9z3k4m5n6p7q8r9s0t1v2w3'],
      description: 'Small ones.',
    };
    const pair = { effect: 'require_approval', approvals: 2 };
    for (const rules of [[], [{ effect: 'deny', action: 'a' }], [whole], [pair]]) {
      expect(() => parsePolicy({ rules })).not.toThrow();
      expect(takes({ policy: { rules } })).toBe(true);
    }
    const wrong = [{ effect: 'explode' }, { effect: 'deny', amount: 1 }, { action: 'a' }];
    for (const rule of wrong) expect(takes({ policy: { rules: [rule] } })).toBe(false);
  });

  it('answers a choice between objects with an object', () => {
    const choice = z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]);
    expect(outputSchema(choice)).toMatchObject({ type: 'object', anyOf: [{}, {}] });
  });

  it('refuses an answer that is no object', () => {
    expect(() => outputSchema(z.array(z.string()))).toThrow(TypeError);
    expect(() => outputSchema(z.object({}).nullable())).toThrow(TypeError);
  });

  it('keeps records, formats and limits, and drops the pattern of a time', () => {
    const schema = inputSchema(
      z.strictObject({
        at: z.iso.datetime(),
        tags: z.record(z.string(), z.int().min(1)),
        any: z.json(),
      }),
    );
    expect(schema['properties']).toEqual({
      at: { type: 'string', format: 'date-time' },
      tags: { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
      any: { anyOf: expect.any(Array) },
    });
  });

  it('keeps a record of an answer', () => {
    const schema = outputSchema(z.object({ headers: z.record(z.string(), z.string()) }));
    expect(schema['properties']).toEqual({
      headers: { type: 'object', additionalProperties: { type: 'string' } },
    });
  });
});

describe('tools of a store', () => {
  const tools = toolList(rawOperations, SCOPES);

  it('declare no answer that may be null', () => {
    const without = tools.filter((tool) => !('outputSchema' in tool)).map(({ name }) => name);
    expect(without).toEqual(['test_kv_get']);
  });

  it('take bytes as base64', () => {
    const put = tools.find(({ name }) => name === 'test_file_put');
    expect(put?.inputSchema['properties']).toMatchObject({
      content_base64: { type: 'string', contentEncoding: 'base64', description: 'The bytes.' },
    });
    expect(put?.inputSchema['required']).toEqual(['path']);
  });

  it('take any JSON', () => {
    const put = tools.find(({ name }) => name === 'test_kv_put');
    const check = new Ajv2020({ strict: false }).compile(put?.inputSchema ?? false);
    for (const value of [null, 1, 'text', [], { n: 1 }])
      expect(check({ key: 'a', value })).toBe(true);
    expect(check({ key: 'a' })).toBe(false);
  });
});

describe('tool book', () => {
  it('makes a list once for a set of scopes, in whatever order a key holds them', () => {
    const book = new ToolBook(operations);
    const list = book.list(['inbox:read', 'disk']);
    expect(book.list(['disk', 'inbox:read'])).toBe(list);
    expect(list).toEqual(toolList(operations, ['disk', 'inbox:read']));
  });

  it('knows no operation that has no tool', () => {
    const book = new ToolBook(operations);
    expect(book.find('key_list')).toBeUndefined();
    expect(book.find('inbox_ack')?.pace({})).toBe('moment');
    expect(book.find('ask_human')?.pace({})).toBe('long');
    expect(book.find('inbox_wait')?.pace({})).toBe('wait');
    expect(book.find('inbox_wait')?.pace({ claim: true })).toBe('long');
  });
});
