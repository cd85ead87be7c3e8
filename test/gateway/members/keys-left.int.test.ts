import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashApiKey, newApiKey, newId } from '../../../shared/lib/ids.ts';
import type { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';

let team: Team;
let owner: WebVisitor;

beforeAll(async () => {
  team = await Team.found();
  owner = await team.owner();
});
afterAll(() => team.stop());

const join = (email: string, role: string) => team.joined(email, role, owner);

async function remove(id: string): Promise<void> {
  const page = team.page(`members/${id}`);
  await owner.get(`${page}?step=remove`);
  expect((await owner.post(page, { fields: { act: 'remove' } })).status).toBe(200);
}

const works = async (key: string): Promise<boolean> =>
  (await team.call('GET', '/v1/whoami', undefined, key)).status === 200;

describe('after their removal', () => {
  it('an admin has no secret of another’s key by an earlier rotation', async () => {
    await join('adam@example.com', 'admin');
    const { api_key: key } = await team.keyOf('adam@example.com');
    const { body: whose } = await team.call<{ key: { id: string } }>('GET', '/v1/whoami');
    const refused = await team.call('POST', `/v1/keys/${whose.key.id}/rotate`, {}, key);
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'SCOPE_MISSING']);
    const { body: own } = await team.call<{ id: string }>(
      'POST',
      '/v1/keys',
      { name: 'agent', scopes: ['disk'] },
      key,
    );
    const rotated = await team.call('POST', `/v1/keys/${own.id}/rotate`, {}, key);
    expect(rotated.status).toBe(201);
  });

  it('a person has no key from before the project moved to another gateway', async () => {
    await join('ben@example.com', 'member');
    const { api_key: before } = await team.keyOf('ben@example.com');
    const project = await team.gateway.gateway.projects.find(team.projectId);
    const after = newApiKey(team.projectId);
    const now = Date.now();
    // There they have another account.
    const made = await project?.writes.run('signInKey', {
      id: newId('key', now),
      name: 'after',
      hash: hashApiKey(after),
      last4: 'abcd',
      scopes: ['disk'],
      accountId: newId('acc', now),
      address: 'ben@example.com',
      now,
    });
    expect(made?.outcome).toBe('made');
    expect([await works(before), await works(after)]).toEqual([true, true]);
    await remove((await team.member('b***@example.com')).id);
    expect([await works(before), await works(after)]).toEqual([false, false]);
  });
});
