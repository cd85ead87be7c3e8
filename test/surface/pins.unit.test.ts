import { describe, expect, it } from 'vitest';
import { toolList } from '../../shared/api/mcp/tools.ts';
import { operations } from '../../shared/operations/index.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { SCOPES } from '../../shared/lib/scopes.ts';
import { ERRORS } from './pinned-refusals.ts';

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
  ['inbox_get', 'GET /v1/inbox/events/{event_id}', 200, 'inbox:read'],
  ['inbox_claim', 'POST /v1/inbox/claim', 200, 'inbox:write'],
  ['inbox_ack', 'POST /v1/inbox/ack', 200, 'inbox:write'],
  ['inbox_nack', 'POST /v1/inbox/nack', 200, 'inbox:write'],
  ['inbox_extend', 'POST /v1/inbox/extend', 200, 'inbox:write'],
  ['inbox_requeue', 'POST /v1/inbox/requeue', 200, 'inbox:write'],
  ['ask_approval', 'POST /v1/requests', 200, 'approvals'],
  ['ask_human', 'POST /v1/requests', 200, 'approvals'],
  ['request_status', 'GET /v1/requests/{id}', 200, 'approvals'],
  ['request_withdraw', 'POST /v1/requests/{id}/withdraw', 200, 'approvals'],
  ['channel_list', 'GET /v1/channels', 200, 'approvals'],
  ['channel_add', 'POST /v1/channels', 201, 'approvals'],
  ['channel_remove', 'DELETE /v1/channels/{id}', 200, 'approvals'],
  ['policy_get', 'GET /v1/policy', 200, 'approvals'],
  ['policy_set', 'PUT /v1/policy', 200, 'approvals'],
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
  ['email_send', 'POST /v1/emails', 200, 'send'],
  ['email_status', 'GET /v1/emails/{batch_id}', 200, 'send'],
  ['ledger_query', 'GET /v1/ledger', 200, 'ledger:read'],
  ['ledger_verify', 'POST /v1/ledger/verify', 200, 'ledger:read'],
];

/** Every tool of the specification, in the order of its route table. */
const SPECIFIED =
  'whoami session_hello source_list source_add source_remove inbox_list inbox_wait inbox_claim inbox_ack inbox_nack ' +
  'ask_approval ask_human request_status channel_list channel_add channel_remove policy_get policy_set kv_list kv_get ' +
  'kv_set kv_delete state_load state_save file_list file_get file_put file_delete file_url email_send ledger_query ' +
  'ledger_verify';

/** Tools beyond those of the specification. */
const MORE = ['inbox_get', 'inbox_extend', 'inbox_requeue', 'request_withdraw', 'email_status'];

/** What agents do not see: REST and command line only. */
const ADDITIONS = [
  ['key_list', 'GET /v1/keys', 200, 'any'],
  ['key_create', 'POST /v1/keys', 201, 'admin'],
  ['key_get', 'GET /v1/keys/{id}', 200, 'any'],
  ['key_revoke', 'DELETE /v1/keys/{id}', 200, 'any'],
  ['key_rotate', 'POST /v1/keys/{id}/rotate', 201, 'any'],
  ['source_get', 'GET /v1/sources/{name}', 200, 'admin'],
  ['source_rotate', 'POST /v1/sources/{name}/rotate', 200, 'admin'],
  ['source_sign', 'POST /v1/sources/{name}/sign', 200, 'admin'],
  ['inbox_link', 'GET /v1/inbox/events/{event_id}/link', 200, 'inbox:write'],
  ['inbox_replay', 'POST /v1/inbox/replay', 200, 'inbox:write'],
  ['inbox_next', 'POST /v1/inbox/next', 200, 'inbox:write'],
  ['route_list', 'GET /v1/routes', 200, 'inbox:read'],
  ['route_add', 'POST /v1/routes', 201, 'admin'],
  ['route_remove', 'DELETE /v1/routes/{id}', 200, 'admin'],
  ['route_disable', 'POST /v1/routes/{id}/disable', 200, 'admin'],
  ['route_enable', 'POST /v1/routes/{id}/enable', 200, 'admin'],
  ['route_attempts', 'GET /v1/routes/{id}/attempts', 200, 'inbox:read'],
  ['route_retry', 'POST /v1/routes/{id}/retry', 200, 'admin'],
  ['route_test', 'POST /v1/routes/{id}/test', 200, 'admin'],
  ['request_list', 'GET /v1/requests', 200, 'approvals'],
  ['request_received', 'POST /v1/requests/{id}/received', 200, 'approvals'],
  ['request_use', 'POST /v1/requests/{id}/use', 200, 'approvals'],
  ['request_callback_secret', 'POST /v1/request-callback-secret', 201, 'admin'],
  ['member_list', 'GET /v1/members', 200, 'any'],
  ['member_invite', 'POST /v1/members', 201, 'admin'],
  ['member_role', 'POST /v1/members/{id}/role', 200, 'admin'],
  ['member_remove', 'DELETE /v1/members/{id}', 200, 'any'],
  ['project_rename', 'PUT /v1/project', 200, 'admin'],
  ['project_delete', 'DELETE /v1/project', 200, 'admin'],
  ['policy_test', 'POST /v1/policy/test', 200, 'approvals'],
  ['policy_diff', 'POST /v1/policy/diff', 200, 'approvals'],
  ['policy_suggest', 'GET /v1/policy/suggestions', 200, 'approvals'],
  ['kv_incr', 'POST /v1/kv-incr', 200, 'disk'],
  ['kv_touch', 'POST /v1/kv-touch', 200, 'disk'],
  ['kv_mget', 'POST /v1/kv-mget', 200, 'disk'],
  ['state_history', 'GET /v1/state-history/{task_id+}', 200, 'disk'],
  ['usage', 'GET /v1/usage', 200, 'any'],
  ['story', 'GET /v1/inbox/events/{event_id}/story', 200, 'ledger:read'],
];

const ABOUT_EVENT = ['event_id', 'lease_id', 'park', 'state'];

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  whoami: [],
  session_hello: ['agent', 'platform'],
  key_list: ['cursor', 'limit'],
  key_create: ['name', 'scopes', 'disk_prefixes', 'expires_at'],
  key_get: ['key_id'],
  key_revoke: ['key_id', 'keep'],
  key_rotate: ['key_id', 'grace_seconds', 'end_made'],
  source_list: [],
  source_add: ['type', 'name', 'verification', 'secret', 'signature_header'],
  source_remove: ['name'],
  source_get: ['name'],
  source_rotate: ['name', 'secret', 'previous_valid_seconds'],
  source_sign: ['name', 'body_base64', 'content_type'],
  inbox_list: [
    'source',
    'type',
    'status',
    'since',
    'thread',
    'mine',
    'newest',
    'brief',
    'cursor',
    'limit',
  ],
  inbox_wait: ['source', 'type', 'since', 'mine', 'after', 'arrived_after', 'timeout_seconds'],
  inbox_get: ['event_id'],
  inbox_link: ['event_id'],
  inbox_claim: ['event_id', 'lease_seconds'],
  inbox_ack: ['event_id', 'lease_id', 'result', 'spends', 'bind'],
  inbox_nack: ['event_id', 'lease_id', 'reason', 'retry', 'until', 'any', 'state'],
  inbox_extend: ['event_id', 'lease_id', 'lease_seconds'],
  inbox_requeue: ['event_id'],
  inbox_replay: [
    'event_id',
    'status',
    'source',
    'type',
    'since',
    'before',
    'dry_run',
    'cursor',
    'limit',
  ],
  inbox_next: ['source', 'type', 'since', 'mine', 'max', 'lease_seconds', 'timeout_seconds'],
  route_list: [],
  route_add: ['callback_url', 'match_source', 'match_type'],
  route_remove: ['route_id'],
  route_disable: ['route_id'],
  route_enable: ['route_id'],
  route_attempts: ['route_id', 'status', 'cursor', 'limit'],
  route_retry: ['route_id', 'delivery_id'],
  route_test: ['route_id'],
  ask_approval: [
    'action',
    'summary',
    'details',
    'risk',
    'amount',
    'options',
    'bind',
    'wait_seconds',
    'expires_in',
    'approvers',
    'remind',
    'then',
    'state_ref',
    'callback_url',
    'approvals',
    ...ABOUT_EVENT,
  ],
  ask_human: [
    'question',
    'options',
    'wait_seconds',
    'expires_in',
    'approvers',
    'remind',
    'then',
    'state_ref',
    'callback_url',
    ...ABOUT_EVENT,
  ],
  request_status: ['request_id'],
  request_list: ['status', 'cursor', 'limit'],
  request_withdraw: ['request_id', 'reason'],
  request_received: ['request_id'],
  request_use: ['request_id', 'bind'],
  request_callback_secret: [],
  channel_list: [],
  channel_add: ['kind', 'address', 'label'],
  channel_remove: ['channel_id'],
  member_list: [],
  member_invite: ['email', 'role'],
  member_role: ['member_id', 'role'],
  member_remove: ['member_id'],
  project_rename: ['name'],
  project_delete: ['name'],
  policy_get: [],
  policy_set: ['policy', 'note', 'wait_seconds'],
  policy_test: ['tool', 'action', 'amount', 'bind', 'risk', 'recipient_domains', 'policy'],
  policy_diff: ['policy'],
  policy_suggest: [],
  kv_list: ['prefix', 'values', 'cursor', 'limit'],
  kv_get: ['key'],
  kv_set: ['key', 'value', 'ttl_seconds', 'if_version', 'if_exists'],
  kv_incr: ['key', 'by', 'ttl_seconds'],
  kv_touch: ['key', 'ttl_seconds'],
  kv_mget: ['keys'],
  kv_delete: ['key', 'if_version', 'if_exists'],
  state_load: ['task_id', 'version'],
  state_history: ['task_id'],
  state_save: ['task_id', 'state', 'note', 'if_version', 'if_exists'],
  file_list: ['prefix', 'cursor', 'limit'],
  file_get: ['path', 'as'],
  file_put: [
    'path',
    'content',
    'content_base64',
    'content_type',
    'upload',
    'complete',
    'if_version',
    'if_exists',
  ],
  file_delete: ['path', 'if_version', 'if_exists'],
  file_url: ['path', 'expires_in', 'approval', 'wait_seconds'],
  email_send:
    'to cc bcc subject text html attachments reply_to_event reply_all quote reply_to_inbox wait_seconds'.split(
      ' ',
    ),
  email_status: ['batch_id'],
  usage: [],
  story: ['event_id'],
  ledger_query: [
    'op',
    'actor',
    'agent',
    'platform',
    'subject',
    'since',
    'until',
    'limit',
    'cursor',
  ],
  ledger_verify: ['from_seq', 'to_seq'],
};

/** Where the body of a request is no JSON object of fields. */
const BODIES = {
  kv_set: { field: 'value', as: 'json' },
  file_put: {
    field: 'content_base64',
    as: 'bytes',
    typeField: 'content_type',
    query: ['if_version', 'if_exists'],
    objectType: 'application/vnd.service.upload+json',
  },
};

/** Where the version of an answer is its ETag, and may be asked for. */
const VERSIONED = [
  'kv_get',
  'kv_set',
  'kv_delete',
  'state_load',
  'state_save',
  'file_get',
  'file_put',
  'file_delete',
];

function row({ name, rest, scope }: Operation): unknown[] {
  return [name, `${rest.method} ${rest.path}`, rest.status ?? 200, scope];
}

describe('the operations', () => {
  it('are tools in this order, with these routes and scopes', () => {
    expect(operations.filter(({ mcp }) => mcp !== false).map(row)).toEqual(TOOLS);
    expect(toolList(operations, SCOPES).map(({ name }) => name)).toEqual(
      TOOLS.map(([name]) => name),
    );
  });

  it('are all 32 tools of the specification', () => {
    const specified = SPECIFIED.split(' ');
    expect(specified).toHaveLength(32);
    const names = TOOLS.map(([name]) => String(name));
    expect(names.filter((name) => !MORE.includes(name))).toEqual(specified);
    expect(names).toHaveLength(specified.length + MORE.length);
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
});
