import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { toolList } from '../../shared/api/mcp/tools.ts';
import type { Scope } from '../../shared/lib/scopes.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { pinned } from './pin.ts';
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

/** What a key with one scope may call, as the pins say. */
function mayCallAlone(scope: Scope, name: string): boolean {
  const { scope: needed, effect } = pinned(name);
  if (scope === 'disk:read') return needed === 'any' || (needed === 'disk' && effect === 'read');
  return needed === 'any' || needed === scope;
}

describe('the scope matrix', () => {
  describe.each(ALL)('a key with %s alone', (scope) => {
    it.each(operations.map((operation) => [operation.name, operation] as const))(
      'and %s',
      async (name, operation) => {
        const input = hopeless(name, operation.example);
        const answer = await world.run(name, input, { key: keys.get(scope) ?? '' });
        const allowed = mayCallAlone(scope, name);
        const { scope: needed } = pinned(name);
        const missing = {
          code: 'SCOPE_MISSING',
          message: 'This key lacks a required scope.',
          hint: `Create a key with the scope \`${needed}\` (needs an admin key).`,
          details: { scope: needed },
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
