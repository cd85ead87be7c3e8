import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as limits from '../../shared/limits.ts';
import { toolList } from '../../shared/bindings/mcp-tools.ts';
import { operations } from '../../shared/operations/index.ts';
import type { Operation } from '../../shared/operation.ts';
import { MAX_ATTEMPTS, retryDelayMs } from '../../shared/rules/event-state.ts';
import { mayCall, SCOPES } from '../../shared/scopes.ts';

// Literals on purpose: what stands here callers rely on, and changing it should take two hands.

/** Name, route, success status and scope of every tool, in the order of the route table. */
const TOOLS = [
  ['whoami', 'GET /v1/whoami', 200, 'any'],
  ['session_hello', 'POST /v1/session/hello', 200, 'any'],
  ['source_list', 'GET /v1/sources', 200, 'admin'],
  ['source_add', 'POST /v1/sources', 201, 'admin'],
  ['source_remove', 'DELETE /v1/sources/{name}', 200, 'admin'],
  ['inbox_list', 'GET /v1/inbox', 200, 'inbox:read'],
  ['inbox_wait', 'GET /v1/inbox/wait', 200, 'inbox:read'],
  ['inbox_claim', 'POST /v1/inbox/claim', 200, 'inbox:write'],
  ['inbox_ack', 'POST /v1/inbox/ack', 200, 'inbox:write'],
  ['inbox_nack', 'POST /v1/inbox/nack', 200, 'inbox:write'],
  ['kv_list', 'GET /v1/kv', 200, 'disk'],
  ['kv_get', 'GET /v1/kv/{key+}', 200, 'disk'],
  ['kv_set', 'PUT /v1/kv/{key+}', 200, 'disk'],
  ['kv_delete', 'DELETE /v1/kv/{key+}', 200, 'disk'],
  ['state_load', 'GET /v1/state/{task_id+}', 200, 'disk'],
  ['state_save', 'PUT /v1/state/{task_id+}', 200, 'disk'],
  ['file_list', 'GET /v1/files', 200, 'disk'],
  ['file_get', 'GET /v1/files/{path+}', 200, 'disk'],
  ['file_put', 'PUT /v1/files/{path+}', 200, 'disk'],
  ['file_delete', 'DELETE /v1/files/{path+}', 200, 'disk'],
  ['file_url', 'POST /v1/file-urls', 200, 'disk'],
  ['ledger_query', 'GET /v1/ledger', 200, 'ledger:read'],
  ['ledger_verify', 'POST /v1/ledger/verify', 200, 'ledger:read'],
];

/** What agents do not see: REST and command line only. */
const ADDITIONS = [
  ['key_list', 'GET /v1/keys', 200, 'any'],
  ['key_create', 'POST /v1/keys', 201, 'admin'],
  ['key_revoke', 'DELETE /v1/keys/{id}', 200, 'any'],
  ['key_rotate', 'POST /v1/keys/{id}/rotate', 201, 'any'],
  ['source_sign', 'POST /v1/sources/{name}/sign', 200, 'admin'],
  ['inbox_extend', 'POST /v1/inbox/extend', 200, 'inbox:write'],
  ['inbox_requeue', 'POST /v1/inbox/requeue', 200, 'inbox:write'],
  ['usage', 'GET /v1/usage', 200, 'any'],
];

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  whoami: [],
  session_hello: ['agent', 'platform'],
  key_list: ['cursor', 'limit'],
  key_create: ['name', 'scopes', 'expires_at'],
  key_revoke: ['key_id'],
  key_rotate: ['key_id', 'grace_seconds'],
  source_list: [],
  source_add: ['type', 'name', 'verification', 'secret', 'signature_header'],
  source_remove: ['name'],
  source_sign: ['name', 'body_base64'],
  inbox_list: ['source', 'type', 'status', 'since', 'cursor', 'limit'],
  inbox_wait: ['source', 'type', 'since', 'after', 'timeout_seconds'],
  inbox_claim: ['event_id', 'lease_seconds'],
  inbox_ack: ['event_id', 'lease_id', 'result'],
  inbox_nack: ['event_id', 'lease_id', 'reason', 'retry'],
  inbox_extend: ['event_id', 'lease_id', 'lease_seconds'],
  inbox_requeue: ['event_id'],
  kv_list: ['prefix', 'cursor', 'limit'],
  kv_get: ['key'],
  kv_set: ['key', 'value', 'ttl_seconds', 'if_version'],
  kv_delete: ['key'],
  state_load: ['task_id'],
  state_save: ['task_id', 'state', 'note', 'if_version'],
  file_list: ['prefix', 'cursor', 'limit'],
  file_get: ['path'],
  file_put: ['path', 'content_base64', 'content_type', 'upload', 'complete', 'if_version'],
  file_delete: ['path'],
  file_url: ['path', 'expires_in', 'approval', 'wait_seconds'],
  usage: [],
  ledger_query: ['op', 'agent', 'platform', 'subject', 'since', 'until', 'limit', 'cursor'],
  ledger_verify: ['from_seq', 'to_seq'],
};

/** Where the body of a request is no JSON object of fields. */
const BODIES = {
  kv_set: { field: 'value', as: 'json' },
  file_put: {
    field: 'content_base64',
    as: 'bytes',
    typeField: 'content_type',
    query: ['if_version'],
    objectType: 'application/vnd.service.upload+json',
  },
};

/** Where the version of an answer is its ETag, and may be asked for. */
const VERSIONED = ['kv_get', 'kv_set', 'state_load', 'state_save', 'file_get', 'file_put'];

const ERRORS: Readonly<Record<string, readonly string[]>> = {
  whoami: [],
  session_hello: [],
  key_list: [],
  key_create: ['KEY_LIMIT_REACHED'],
  key_revoke: ['NOT_FOUND', 'SCOPE_MISSING', 'LAST_ADMIN_KEY'],
  key_rotate: ['NOT_FOUND', 'SCOPE_MISSING', 'KEY_REVOKED'],
  source_list: [],
  source_add: ['SOURCE_NAME_TAKEN'],
  source_remove: ['NOT_FOUND'],
  source_sign: ['NOT_FOUND'],
  inbox_list: [],
  inbox_wait: ['TOO_MANY_WAITS'],
  inbox_claim: ['NOT_FOUND', 'EVENT_NOT_CLAIMABLE', 'EVENT_ROUTED'],
  inbox_ack: [
    'NOT_FOUND',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_ROUTED',
    'LEASE_NOT_HELD',
    'LEASE_EXPIRED',
  ],
  inbox_nack: [
    'NOT_FOUND',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_ROUTED',
    'LEASE_NOT_HELD',
    'LEASE_EXPIRED',
  ],
  inbox_extend: [
    'NOT_FOUND',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_ROUTED',
    'LEASE_NOT_HELD',
    'LEASE_EXPIRED',
  ],
  inbox_requeue: ['NOT_FOUND', 'EVENT_NOT_CLAIMABLE'],
  kv_list: [],
  kv_get: [],
  kv_set: ['PATH_RESERVED', 'QUOTA_EXCEEDED', 'PRECONDITION_FAILED', 'PAYLOAD_TOO_LARGE'],
  kv_delete: [],
  state_load: [],
  state_save: ['QUOTA_EXCEEDED', 'PRECONDITION_FAILED', 'PAYLOAD_TOO_LARGE'],
  file_list: [],
  file_get: ['NOT_FOUND'],
  file_put: [
    'PATH_RESERVED',
    'QUOTA_EXCEEDED',
    'PRECONDITION_FAILED',
    'PAYLOAD_TOO_LARGE',
    'UPLOAD_LIMIT',
    'UPLOAD_INCOMPLETE',
    'NOT_FOUND',
  ],
  file_delete: ['PATH_RESERVED'],
  file_url: ['NOT_FOUND', 'APPROVAL_NOT_APPLICABLE', 'TOO_MANY_PENDING_REQUESTS'],
  usage: [],
  ledger_query: [],
  ledger_verify: [],
};

function row({ name, rest, scope }: Operation): unknown[] {
  return [name, `${rest.method} ${rest.path}`, rest.status ?? 200, scope];
}

function input(name: string): Operation['input'] {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no ${name}.`);
  return operation.input;
}

describe('the operations', () => {
  it('are tools in this order, with these routes and scopes', () => {
    expect(operations.filter(({ mcp }) => mcp !== false).map(row)).toEqual(TOOLS);
    expect(toolList(operations, SCOPES).map(({ name }) => name)).toEqual(
      TOOLS.map(([name]) => name),
    );
  });

  it('have these additions for REST and the command line', () => {
    expect(operations.filter(({ mcp }) => mcp === false).map(row)).toEqual(ADDITIONS);
  });

  it('take these parameters', () => {
    const taken = operations.map(({ name, input: { shape } }) => [name, Object.keys(shape)]);
    expect(Object.fromEntries(taken)).toEqual(PARAMETERS);
  });

  it('take these bodies whole, and tell these versions', () => {
    const raw = operations.filter(({ rest }) => rest.body);
    expect(Object.fromEntries(raw.map(({ name, rest }) => [name, rest.body]))).toEqual(BODIES);
    const versioned = operations.filter(({ rest }) => rest.versioned);
    expect(versioned.map(({ name }) => name)).toEqual(VERSIONED);
  });

  it('refuse with these codes of their own', () => {
    expect(Object.fromEntries(operations.map(({ name, errors }) => [name, errors]))).toEqual(
      ERRORS,
    );
  });

  it('fill in these defaults', () => {
    const event_id = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
    expect(input('inbox_list').parse({})).toEqual({ status: 'pending', limit: 20 });
    expect(input('inbox_wait').parse({})).toEqual({ timeout_seconds: 45 });
    expect(input('inbox_claim').parse({ event_id })).toEqual({ event_id, lease_seconds: 300 });
    expect(input('inbox_nack').parse({ event_id, reason: 'no' })).toMatchObject({ retry: true });
    expect(input('source_add').parse({ type: 'webhook', name: 'a' })).toMatchObject({
      verification: 'none',
    });
    expect(input('kv_list').parse({})).toEqual({ prefix: '', limit: 20 });
    expect(input('kv_set').parse({ key: 'a' })).toEqual({ key: 'a' });
    expect(input('file_list').parse({})).toEqual({ prefix: '', limit: 20 });
    expect(input('file_put').parse({ path: 'a', upload: { size: 1 } })).toEqual({
      path: 'a',
      upload: { size: 1, content_type: 'application/octet-stream' },
    });
    expect(input('file_url').parse({ path: 'a' })).toEqual({
      path: 'a',
      expires_in: 3600,
      wait_seconds: 45,
    });
    expect(input('ledger_query').parse({})).toEqual({ limit: 50 });
    expect(input('ledger_verify').parse({})).toEqual({ from_seq: 1 });
  });

  it.each([
    ['inbox_list', 'limit', 1, 100],
    ['inbox_wait', 'timeout_seconds', 1, 120],
    ['inbox_claim', 'lease_seconds', 30, 3600],
    ['inbox_extend', 'lease_seconds', 30, 3600],
    ['kv_list', 'limit', 1, 100],
    ['kv_set', 'ttl_seconds', 1, 31_536_000],
    ['file_list', 'limit', 1, 100],
    ['file_put', 'upload.size', 0, 104_857_600],
    ['file_url', 'expires_in', 60, 604_800],
    ['file_url', 'wait_seconds', 0, 120],
    ['ledger_query', 'limit', 1, 500],
    ['key_list', 'limit', 1, 100],
    ['key_rotate', 'grace_seconds', 0, 86_400],
  ])('%s takes %s from %i to %i', (name, field, least, most) => {
    const [outer = '', inner] = field.split('.');
    const schema = z.object({ [outer]: input(name).shape[outer] ?? z.never() });
    const takes = (value: number): boolean =>
      schema.safeParse({ [outer]: inner === undefined ? value : { [inner]: value } }).success;
    expect([least - 1, least, most, most + 1].map(takes)).toEqual([false, true, true, false]);
  });
});

describe('scopes', () => {
  it('are these', () => {
    expect(SCOPES).toEqual([
      'admin',
      'ledger:read',
      'inbox:read',
      'inbox:write',
      'approvals',
      'disk',
      'send',
    ]);
  });

  it('stand alone: admin does not contain the others', () => {
    expect(mayCall(['admin'], 'inbox:read')).toBe(false);
    expect(mayCall(['inbox:read'], 'inbox:read')).toBe(true);
    expect(mayCall(['inbox:write'], 'inbox:read')).toBe(false);
    expect(mayCall([], 'any')).toBe(true);
    expect(mayCall([], 'admin')).toBe(false);
  });
});

describe('limits', () => {
  it('are these', () => {
    expect({ ...limits }).toEqual({
      WEBHOOK_BODY_MAX_BYTES: 5_242_880,
      PAYLOAD_INLINE_MAX_BYTES: 8192,
      PAYLOAD_ROW_MAX_BYTES: 262_144,
      PAYLOAD_LINK_SECONDS: 3600,
      PAYLOAD_RETENTION_MS: 2_592_000_000,
      DEDUP_ID_MS: 2_592_000_000,
      DEDUP_BODY_MS: 86_400_000,
      LEASE_MIN_SECONDS: 30,
      LEASE_MAX_SECONDS: 3600,
      LEASE_DEFAULT_SECONDS: 300,
      ACK_RESULT_MAX_BYTES: 4096,
      NACK_REASON_MAX_BYTES: 1024,
      LIST_DEFAULT: 20,
      LIST_MAX: 100,
      LEDGER_LIST_DEFAULT: 50,
      LEDGER_LIST_MAX: 500,
      WAIT_DEFAULT_SECONDS: 45,
      WAIT_MAX_SECONDS: 120,
      WAITS_PER_KEY: 10,
      WAITS_PER_PROJECT: 25,
      ACTIVE_KEYS_MAX: 20,
      RATE_BURST: 100,
      MCP_BODY_MAX_BYTES: 2_097_152,
      API_BODY_MAX_BYTES: 1_048_576,
      API_BODY_DEFAULT_MAX_BYTES: 131_072,
      IDEMPOTENCY_KEY_MAX_CHARS: 255,
      IDEMPOTENCY_MS: 86_400_000,
      SESSION_MS: 43_200_000,
      KV_VALUE_MAX_BYTES: 262_144,
      KV_KEY_MAX_BYTES: 512,
      KV_TTL_MAX_SECONDS: 31_536_000,
      DISK_KEYS_MAX: 10_000,
      DISK_MAX_BYTES: 1_073_741_824,
      STATE_NOTE_MAX_CHARS: 500,
      FILE_PATH_MAX_BYTES: 512,
      FILE_INLINE_MAX_BYTES: 1_048_576,
      FILE_MAX_BYTES: 104_857_600,
      UPLOAD_MS: 900_000,
      UPLOADS_PER_PATH: 3,
      DOWNLOAD_LINK_SECONDS: 300,
      FILE_URL_MIN_SECONDS: 60,
      FILE_URL_MAX_SECONDS: 604_800,
      FILE_URL_DEFAULT_SECONDS: 3600,
      FILE_URL_REDEEM_MS: 86_400_000,
      TRANSFER_MONTH_MAX_BYTES: 5_368_709_120,
      PENDING_REQUESTS_MAX: 50,
      REQUEST_DEFAULT_MS: 86_400_000,
    });
  });

  it('give an event five attempts, with pauses that double up to an hour', () => {
    expect(MAX_ATTEMPTS).toBe(5);
    expect([1, 2, 3, 4, 5, 7, 8, 20].map(retryDelayMs)).toEqual([
      30_000, 60_000, 120_000, 240_000, 480_000, 1_920_000, 3_600_000, 3_600_000,
    ]);
  });
});
