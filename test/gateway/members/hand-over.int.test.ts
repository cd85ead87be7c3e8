import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Person } from '../auth/sign-in/person.ts';
import { Team } from './team.ts';

let team: Team;
let ana: WebVisitor;

beforeAll(async () => {
  team = await Team.found();
  ana = await team.owner();
});
afterAll(() => team.stop());

/** Chooses a role on a member's page; the text that the page shows then. */
async function choose(visitor: WebVisitor, id: string, role: string): Promise<string> {
  const page = team.page(`members/${id}`);
  await visitor.get(page);
  const answer = await visitor.post(page, { fields: { act: 'role', role } });
  return answer.status === 303 ? (await visitor.get(answer.location ?? '')).html : answer.html;
}

function roleByKey(id: string, role: string, key?: string) {
  return team.call<{ member: { role: string }; request_id: string | null }>(
    'POST',
    `/v1/members/${id}/role`,
    { role },
    key,
  );
}

describe('a role', () => {
  it('given by a key takes effect at once where it decides nothing, and narrows keys', async () => {
    await team.joined('mia@example.com', 'member');
    const { id } = await team.member('m***@example.com');
    const { api_key: key } = await team.keyOf('mia@example.com');
    const given = await roleByKey(id, 'viewer');
    expect(given.body).toMatchObject({ member: { role: 'viewer' }, request_id: null });
    const { body } = await team.call<{ scopes: string[] }>('GET', '/v1/whoami', undefined, key);
    expect(body.scopes.toSorted()).toEqual(['disk:read', 'inbox:read', 'ledger:read']);
  });

  it('with power is given by a key only once an owner approves', async () => {
    const { id } = await team.member('m***@example.com');
    const { body } = await roleByKey(id, 'approver');
    expect(body.member.role).toBe('viewer');
    const path = team.page(`requests/${body.request_id ?? ''}`);
    await ana.get(path);
    const asked = await ana.post(path, { fields: { verb: 'approve' } });
    const confirm = await ana.get(asked.location ?? '');
    const [, step = ''] = /name="confirm" value="([^"]*)"/.exec(confirm.html) ?? [];
    await ana.post(path, { fields: { confirm: step } });
    const member = await team.member('m***@example.com');
    expect(member).toMatchObject({ role: 'approver', channel_id: expect.stringMatching(/^chn_/) });
  });

  it('can’t be raised by oneself', async () => {
    const adam = await team.joined('bo@example.com', 'admin');
    const { id } = await team.member('b***@example.com');
    const { api_key: key } = await team.keyOf('bo@example.com');
    const byKey = await roleByKey(id, 'owner', key);
    expect([byKey.status, byKey.body.error?.code]).toEqual([403, 'SCOPE_MISSING']);
    expect(await choose(adam, id, 'owner')).toContain('Nobody gives themselves more power');
    expect((await team.member('b***@example.com')).role).toBe('admin');
  });

  it('of the last owner stays', async () => {
    const owner = (await team.members())[0]?.id ?? '';
    const byKey = await roleByKey(owner, 'admin');
    expect([byKey.status, byKey.body.error?.code]).toEqual([409, 'CHANNEL_OWNER_PROTECTED']);
    expect(await choose(ana, owner, 'viewer')).toContain('This is the last owner.');
    const removed = await team.call('DELETE', `/v1/members/${owner}`);
    expect(removed.body.error?.code).toBe('CHANNEL_OWNER_PROTECTED');
  });
});

describe('a project', () => {
  it('is handed over: a second owner, then the founder steps down and leaves', async () => {
    const founder = (await team.members())[0]?.id ?? '';
    const { id: bo, channel_id: channel } = await team.member('b***@example.com');
    expect(await choose(ana, bo, 'owner')).toContain('Saved.');
    const protectedChannel = await team.call('DELETE', `/v1/channels/${channel ?? ''}`);
    expect(protectedChannel.body.error?.code).toBe('CHANNEL_OWNER_PROTECTED');
    const pending = await team.asked({ approvers: [team.ownerChannel] });

    expect(await choose(ana, founder, 'viewer')).toContain('viewer');
    const { api_key: key } = await team.keyOf('bo@example.com');
    expect((await team.request(pending, key)).approvers).toEqual([channel]);
    const channels = await team.call<{ items: { id: string; owner: boolean }[] }>(
      'GET',
      '/v1/channels',
      undefined,
      key,
    );
    expect(channels.body.items.find(({ owner }) => owner)?.id).toBe(channel);
    const { html } = await ana.get(team.page('members'));
    expect(html).toContain('a***@example.com');

    const page = team.page(`members/${founder}`);
    await ana.get(page);
    expect((await ana.post(page, { fields: { act: 'remove' } })).location).toBe('/ui');
    expect((await ana.get(team.page('members'))).status).toBe(404);
    const login = await new Person(team.gateway, 'ana@example.com').confirmed();
    const until = performance.now() + 5_000;
    let projects = ['shop'];
    while (projects.length > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 1_010));
      projects = (await new Person(team.gateway, 'ana@example.com').projects(login)).map(
        ({ slug }) => slug,
      );
    }
    expect(projects).toEqual([]);
  });
});
