import * as z from 'zod';
import { isBytes, wholeOf, type Bytes } from '../../../shared/lib/bytes.ts';
import { defineOperation, type Operation } from '../../../shared/kernel/operation.ts';

export const KV_MAX_BYTES = 64 * 1024;
export const FILE_MAX_BYTES = 256 * 1024;
export const UPLOAD_TYPE = 'application/vnd.service.upload+json';

const common = {
  summary: 'Test.',
  description: 'A test.',
  scope: 'any',
  replica: 'upstream',
  mcp: { title: 'Test' },
  cli: { usage: 'test', examples: [] },
} as const;

/** Any JSON as it came: `z.json()` leaves out members named `__proto__`. */
const anyJson = z.custom<unknown>((value) => value !== undefined).describe('Any JSON.');

/** Bytes, or the base64 text of them; what arrives says which it was. */
const bytes = z
  .custom<string | Bytes>(
    (value) => typeof value === 'string' || isBytes(value),
    'Expected base64.',
  )
  .meta({ type: 'string', contentEncoding: 'base64', description: 'The bytes.' })
  .transform((value) =>
    typeof value === 'string'
      ? { text: value }
      : { hex: Buffer.from(wholeOf(value)).toString('hex') },
  );

const condition = {
  if_version: z.int().min(0).optional().describe('The version to replace.'),
  if_exists: z.boolean().optional().describe('Whether something must be there.'),
};

const stored = z.object({ key: z.string(), value: z.unknown(), version: z.int() });

const kvPut: Operation = defineOperation({
  ...common,
  name: 'test_kv_put',
  input: z.strictObject({
    key: z.string(),
    value: anyJson,
    ttl_seconds: z.int().min(1).optional(),
    ...condition,
  }),
  output: z.object({ version: z.int() }),
  errors: ['PRECONDITION_FAILED'],
  effect: 'write',
  rest: {
    method: 'PUT',
    path: '/v1/kv/{key+}',
    bodyMaxBytes: KV_MAX_BYTES,
    body: { field: 'value', as: 'json' },
    versioned: true,
  },
  example: { key: 'a', value: { n: 1 } },
}).write({ commit: async () => ({ version: 1 }) });

const kvGet: Operation = defineOperation({
  ...common,
  name: 'test_kv_get',
  input: z.strictObject({ key: z.string() }),
  output: stored.nullable(),
  errors: [],
  effect: 'read',
  rest: { method: 'GET', path: '/v1/kv/{key+}', versioned: true },
  example: { key: 'a' },
}).read(async () => null);

const kvDelete: Operation = defineOperation({
  ...common,
  name: 'test_kv_delete',
  input: z.strictObject({ key: z.string(), ...condition }),
  output: z.object({ deleted: z.boolean() }),
  errors: ['PRECONDITION_FAILED'],
  effect: 'write',
  rest: { method: 'DELETE', path: '/v1/kv/{key+}', versioned: true },
  example: { key: 'a' },
}).write({ commit: async () => ({ deleted: true }) });

const filePut: Operation = defineOperation({
  ...common,
  name: 'test_file_put',
  input: z.strictObject({
    path: z.string(),
    content_base64: bytes.optional(),
    content_type: z.string().max(100).optional().describe('Its media type.'),
    bytes_total: z.int().min(0).optional(),
    ...condition,
  }),
  output: z.object({ version: z.int() }),
  errors: ['PRECONDITION_FAILED'],
  effect: 'write',
  rest: {
    method: 'PUT',
    path: '/v1/files/{path+}',
    bodyMaxBytes: FILE_MAX_BYTES,
    body: {
      field: 'content_base64',
      as: 'bytes',
      typeField: 'content_type',
      objectType: UPLOAD_TYPE,
    },
    versioned: true,
  },
  example: { path: 'a.txt', content_base64: 'aGk=', content_type: 'text/plain' },
}).write({ commit: async () => ({ version: 1 }) });

const statePut: Operation = defineOperation({
  ...common,
  name: 'test_state_put',
  input: z.strictObject({
    task: z.string(),
    state: z.json().describe('Any JSON.'),
    ...condition,
  }),
  output: z.object({ version: z.int() }),
  errors: ['PRECONDITION_FAILED'],
  effect: 'write',
  rest: { method: 'PUT', path: '/v1/state/{task+}', versioned: true },
  example: { task: 'a', state: 1 },
}).write({ commit: async () => ({ version: 1 }) });

/** Tells its version, and replaces whatever is there. */
const notePut: Operation = defineOperation({
  ...common,
  name: 'test_note_put',
  input: z.strictObject({
    id: z.string(),
    note: bytes,
    shape: z.strictObject({ n: z.int() }).optional(),
  }),
  output: z.object({ version: z.int() }),
  errors: [],
  effect: 'write',
  rest: {
    method: 'PUT',
    path: '/v1/notes/{id}',
    body: { field: 'note', as: 'bytes' },
    versioned: true,
  },
  example: { id: 'a', note: 'aGk=', shape: { n: 1 } },
}).write({ commit: async () => ({ version: 1 }) });

/** A store's operations, as bindings see them. */
export const rawOperations: readonly Operation[] = [
  kvGet,
  kvPut,
  kvDelete,
  filePut,
  statePut,
  notePut,
];

/** Values have version 3; `none` is not there, and `bare` has no version. Writes say what arrived. */
export function storeAnswer(operation: Operation, input: Record<string, unknown>): unknown {
  if (operation !== kvGet) return { ...input, version: 4 };
  const { key } = input;
  if (key === 'none') return null;
  return key === 'bare' ? { key } : { key, value: 1, version: key === 'odd' ? '3' : 3 };
}
