import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { toolList } from '../../shared/api/mcp/tools.ts';
import type { Scope } from '../../shared/lib/scopes.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { World } from './scenario.ts';

const ALL: readonly Scope[] = [
  'admin',
  'ledger:read',
  'inbox:read',
  'inbox:write',
  'approvals',
  'disk',
  'disk:read',
  'send',
];

/** What a key with one scope may call, beside what any key may. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  admin: [
    'key_create',
    'source_list',
    'source_add',
    'project_rename',
    'project_delete',
    'source_remove',
    'source_get',
    'source_rotate',
    'source_sign',
    'member_invite',
    'member_role',
    'route_add',
    'route_remove',
    'route_disable',
    'route_enable',
    'route_retry',
    'route_test',
    'request_callback_secret',
  ],
  'ledger:read': ['ledger_query', 'ledger_verify', 'story'],
  'inbox:read': ['inbox_list', 'inbox_wait', 'inbox_get', 'route_list', 'route_attempts'],
  'inbox:write': [
    'inbox_link',
    'inbox_claim',
    'inbox_ack',
    'inbox_nack',
    'inbox_extend',
    'inbox_requeue',
    'inbox_replay',
    'inbox_next',
  ],
  approvals: [
    'ask_approval',
    'ask_human',
    'request_status',
    'request_list',
    'request_withdraw',
    'request_received',
    'request_use',
    'channel_list',
    'channel_add',
    'channel_remove',
    'policy_get',
    'policy_set',
    'policy_test',
    'policy_diff',
    'policy_suggest',
  ],
  disk: [
    'kv_list',
    'kv_get',
    'kv_set',
    'kv_incr',
    'kv_touch',
    'kv_mget',
    'kv_delete',
    'state_load',
    'state_save',
    'state_history',
    'file_list',
    'file_get',
    'file_put',
    'file_delete',
    'file_url',
  ],
  send: ['email_send', 'email_status'],
};
/** Of the operations of `disk`, those that only read. */
const READING_DISK = [
  'kv_list',
  'kv_get',
  'kv_mget',
  'state_load',
  'state_history',
  'file_list',
  'file_get',
];
const FOR_ANY = [
  'whoami',
  'session_hello',
  'key_list',
  'key_get',
  'key_revoke',
  'key_rotate',
  'member_list',
  'member_remove',
  'usage',
];

let gateway: TestGateway;
let world: World;
const keys = new Map<string, string>();

beforeAll(async () => {
  gateway = await TestGateway.start();
  world = new World(gateway);
  for (const scope of ALL) keys.set(scope, (await world.newKey(scope)).apiKey);
});
afterAll(() => gateway.stop());

/** Nothing is changed: what gets past the scope stops at an input nobody would take. */
const UNKNOWN = {
  event_id: 'x',
  batch_id: 'x',
  to: [],
  key_id: 'x',
  route_id: 'x',
  callback_url: 'x',
  request_id: 'x',
  channel_id: 'x',
  kind: 'x',
  action: '',
  question: '',
  policy: 'x',
  name: 'X',
  body_base64: '%',
  // An empty one would be another address.
  key: '\u007f',
  task_id: '\u007f',
  path: '\u007f',
};

function hopeless(name: string, example: Readonly<Record<string, unknown>>) {
  if (name === 'inbox_wait') return { timeout_seconds: 0 };
  if (name === 'request_callback_secret') return { surprise: true };
  const changed = Object.entries(UNKNOWN).filter(([field]) => field in example);
  return { ...example, ...Object.fromEntries(changed) };
}

function mayCallAlone(scope: Scope, name: string): boolean {
  const allowed = scope === 'disk:read' ? READING_DISK : ALLOWED[scope];
  return FOR_ANY.includes(name) || allowed?.includes(name) === true;
}

function scopeOf(name: string): Scope | undefined {
  return ALL.find((scope) => ALLOWED[scope]?.includes(name));
}

describe('the scope matrix', () => {
  it('names every operation once', () => {
    const named = [...Object.values(ALLOWED).flat(), ...FOR_ANY];
    expect(named.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  });

  describe.each(ALL)('a key with %s alone', (scope) => {
    it.each(operations.map((operation) => [operation.name, operation] as const))(
      'and %s',
      async (name, operation) => {
        const input = hopeless(name, operation.example);
        const answer = await world.run(name, input, { key: keys.get(scope) ?? '' });
        const allowed = mayCallAlone(scope, name);
        const missing = {
          code: 'SCOPE_MISSING',
          message: 'This key lacks a required scope.',
          hint: `Create a key with the scope \`${scopeOf(name)}\` (needs an admin key).`,
          details: { scope: scopeOf(name) },
        };
        expect([200, 400, 403, 404]).toContain(answer.status);
        expect(answer.status === 403 ? answer.body : null).toEqual(
          allowed ? null : { error: missing },
        );
      },
    );

    it('sees the tools it may call', () => {
      const tools = toolList(operations, [scope]).map(({ name }) => name);
      const mcp = operations.filter((one) => one.mcp !== false).map(({ name }) => name);
      expect(tools).toEqual(mcp.filter((name) => mayCallAlone(scope, name)));
    });

    it('is checked before its input', async () => {
      const refused = scope === 'admin' ? 'ledger_verify' : 'key_create';
      const answer = await world.run(refused, { surprise: 1 }, { key: keys.get(scope) ?? '' });
      expect(answer.status).toBe(403);
    });
  });

  it('lets any key list, rotate and revoke itself, and no other key', async () => {
    const { id, apiKey } = await world.newKey('send');
    const own = await world.ownKeyId();
    const listed = await world.get('key_list', {}, { key: apiKey });
    expect(listed['items']).toMatchObject([{ id, scopes: ['send'] }]);
    for (const name of ['key_rotate', 'key_revoke']) {
      const refused = await world.run(name, { key_id: own }, { key: apiKey });
      expect([refused.status, refused.body]).toMatchObject([
        403,
        { error: { details: { scope: 'admin' } } },
      ]);
    }
    const rotated = await world.get('key_rotate', { key_id: id }, { key: apiKey });
    const key = String(rotated['api_key']);
    expect((await world.run('key_revoke', { key_id: id }, { key })).status).toBe(200);
    expect((await world.run('whoami', {}, { key })).status).toBe(401);
  });

  it('lets no key make one that may do more', async () => {
    const { apiKey } = await world.newKey('admin');
    const more = { name: 'more', scopes: ['admin', 'disk'] };
    const refused = await world.run('key_create', more, { key: apiKey });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { error: { details: { fields: [{ path: 'scopes' }] } } },
    ]);
  });
});
