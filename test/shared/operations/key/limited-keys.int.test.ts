import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { World } from '../../../surface/scenario.ts';

type Json = Record<string, unknown>;

let gateway: TestGateway;
let world: World;

beforeAll(async () => {
  gateway = await TestGateway.start();
  world = new World(gateway);
});
afterAll(() => gateway.stop());

const make = (input: Json) =>
  world.run('key_create', { name: 'made', scopes: ['disk'], disk_prefixes: ['a/'], ...input });

describe('the limit of a key to prefixes of the disk', () => {
  it('is part of the key, wherever it is shown, and stays when it is rotated', async () => {
    const { body: made } = await make({ disk_prefixes: ['b', 'a/', 'b'] });
    expect(made['disk_prefixes']).toEqual(['b', 'a/']);
    const rotated = await world.get('key_rotate', { key_id: made['id'] });
    expect(rotated['disk_prefixes']).toEqual(['b', 'a/']);
    const key = String(rotated['api_key']);
    expect(await world.get('whoami', {}, { key })).toMatchObject({
      key: { disk_prefixes: ['b', 'a/'] },
    });
    expect((await world.get('key_list', {}, { key }))['items']).toMatchObject([
      { disk_prefixes: ['b', 'a/'] },
    ]);
    const again = await world.get('key_rotate', { key_id: made['id'] }, { key });
    const refused = await world.run('kv_get', { key: 'c' }, { key: String(again['api_key']) });
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { error: { details: { scope: 'disk', prefixes: ['b', 'a/'] } } },
    ]);
    expect((await world.get('whoami', {}))['key']).toMatchObject({ disk_prefixes: null });
    await world.get('key_revoke', { key_id: made['id'] });
  });

  it.each([
    ['with admin', { scopes: ['admin', 'disk'] }, 'disk_prefixes', 'admin'],
    ['without a scope for the disk', { scopes: ['inbox:read'] }, 'disk_prefixes', 'disk:read'],
    ['of none', { disk_prefixes: [] }, 'disk_prefixes', 'empty'],
    ['of nothing', { disk_prefixes: [''] }, 'disk_prefixes[0]', 'empty'],
    ['of more than ten', { disk_prefixes: 'abcdefghijk'.split('') }, 'disk_prefixes', '10'],
    ['of half a character', { disk_prefixes: ['\ud83d'] }, 'disk_prefixes[0]', 'Unicode'],
    ['of control characters', { disk_prefixes: ['a\n'] }, 'disk_prefixes[0]', 'Control'],
    ['that is too long', { disk_prefixes: ['é'.repeat(257)] }, 'disk_prefixes[0]', '512'],
  ])('is refused %s', async (_case, input, path, message) => {
    const { status, body } = await make(input);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { fields: [{ path }] } } });
    expect(JSON.stringify(body)).toContain(message);
  });

  it('keeps a key from creating and rotating others', async () => {
    const { body: limited } = await make({});
    const key = String(limited['api_key']);
    const created = await world.run('key_create', { name: 'x', scopes: ['disk'] }, { key });
    expect(created.body).toMatchObject({ error: { details: { scope: 'admin' } } });
    const key_id = await world.ownKeyId();
    const rotated = await world.run('key_rotate', { key_id }, { key });
    expect(rotated.body).toMatchObject({ error: { details: { scope: 'admin' } } });
  });
});
