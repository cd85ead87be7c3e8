import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mailsOf } from '../../helpers/outbox.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { TestPeople } from '../approvals/people.ts';
import { parsedMail } from '../mail/parsed-mail.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';

let team: Team;
let owner: WebVisitor;

beforeAll(async () => {
  team = await Team.found();
  owner = await team.owner();
});
afterAll(() => team.stop());

const join = (email: string, role: string) => team.joined(email, role, owner);

function roleByKey(id: string, role: string) {
  return team.call<{ request_id: string }>('POST', `/v1/members/${id}/role`, { role });
}

describe('a key', () => {
  it('fills neither the owners’ mailboxes nor the pending requests by asking again and again', async () => {
    await join('mia@example.com', 'member');
    const { id } = await team.member('m***@example.com');
    const first = (await roleByKey(id, 'admin')).body.request_id;
    expect((await roleByKey(id, 'admin')).body.request_id).toBe(first);
    const { body } = await team.call<{ items: unknown[] }>('GET', '/v1/requests?status=pending');
    expect(body.items).toHaveLength(1);
    const invited: number[] = [];
    for (let n = 0; n < 30; n += 1) {
      const to = { email: `p${n}@example.com`, role: 'approver' };
      invited.push((await team.call('POST', '/v1/members', to)).status);
    }
    expect(invited.at(-1)).toBe(429);
    for (const { id: one, status } of await team.members()) {
      if (status === 'asked') await team.call('DELETE', `/v1/members/${one}`);
    }
  });

  it('with few scopes doesn’t remove its own person', async () => {
    await join('vera@example.com', 'viewer');
    const { id } = await team.member('v***@example.com');
    const { api_key: key } = await team.keyOf('vera@example.com', { scopes: ['ledger:read'] });
    const refused = await team.call('DELETE', `/v1/members/${id}`, undefined, key);
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'SCOPE_MISSING']);
    expect((await team.member('v***@example.com')).status).toBe('active');
  });

  it('hides no address from the owner who lets somebody in, and doesn’t learn it', async () => {
    const invited = { email: 'bob.mallory@example.com', role: 'admin' };
    const { body } = await team.call<{ request_id: string }>('POST', '/v1/members', invited);
    const people = await TestPeople.of(team.gateway, systemClock(), team.projectId);
    await people.link(body.request_id, team.ownerChannel);
    const mails = mailsOf(team.gateway.folder).map((mail) => parsedMail(mail).text);
    expect(mails.some((text) => text.includes('Invite bob.mallory@example.com as admin'))).toBe(
      true,
    );
    const page = team.page(`requests/${body.request_id}`);
    expect((await owner.get(page)).html).toContain('bob.mallory@example.com');
    const asked = await team.call('GET', `/v1/requests/${body.request_id}`);
    expect(JSON.stringify(asked.body)).not.toContain('bob.mallory');
    const withKey = await WebVisitor.withKey(team.gateway, team.key);
    expect((await withKey.get(page)).html).not.toContain('bob.mallory');
  });
});

describe('a channel', () => {
  it('that a removed member’s key added decides nothing any more', async () => {
    await join('adam@example.com', 'admin');
    const { api_key: key } = await team.keyOf('adam@example.com');
    const { body: added } = await team.call<{ channel: { id: string } }>(
      'POST',
      '/v1/channels',
      { kind: 'email', address: 'adam.second@example.net' },
      key,
    );
    const adam = (await team.members()).find(
      ({ role, status }) => role === 'admin' && status === 'active',
    );
    const page = team.page(`members/${adam?.id ?? ''}`);
    await owner.get(`${page}?step=remove`);
    await owner.post(page, { fields: { act: 'remove' } });
    const { body } = await team.call<{ items: { id: string; status: string }[] }>(
      'GET',
      '/v1/channels',
    );
    const left = body.items.filter(({ status }) => status !== 'removed').map(({ id }) => id);
    expect(left).not.toContain(added.channel.id);
    expect(left).toContain(team.ownerChannel);
  });

  it('of an approver that was removed comes back with the same role', async () => {
    await join('paul@example.com', 'approver');
    const before = await team.member('p***@example.com');
    await team.call('DELETE', `/v1/channels/${before.channel_id ?? ''}`);
    expect((await team.member('p***@example.com')).channel_id).toBeNull();
    const page = team.page(`members/${before.id}`);
    await owner.get(page);
    await owner.post(page, { fields: { act: 'role', role: 'approver' } });
    const { channel_id: channelId } = await team.member('p***@example.com');
    expect(channelId).toMatch(/^chn_/);
    expect(channelId).not.toBe(before.channel_id);
  });

  it('of a member who decides is muted and unmuted by that member', async () => {
    const paul = await WebVisitor.asOwner(team.gateway, 'paul@example.com');
    const path = team.page(`requests/${await team.asked({ summary: 'Noisy' })}`);
    await paul.get(path);
    expect((await paul.post(path, { fields: { verb: 'mute' } })).location).toBe(path);
    const list = await paul.get(team.page('requests'));
    expect(list.html).toContain('is muted until');
    expect((await owner.get(team.page('requests'))).html).not.toContain('is muted until');
    await paul.get(team.page('requests'));
    const key = /name="key" value="([^"]*)"/.exec(list.html)?.[1] ?? '';
    await paul.post(team.page('requests'), { fields: { act: 'unmute', key } });
    expect((await paul.get(team.page('requests'))).html).not.toContain('is muted until');
  });
});
