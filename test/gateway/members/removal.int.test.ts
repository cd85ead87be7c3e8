import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/lib/clock.ts';
import { TestPeople } from '../approvals/people.ts';
import { ChangeStream } from '../replica/change-stream.ts';
import { post, Person } from '../auth/sign-in/person.ts';
import { Team } from './team.ts';
import { askedAgain } from '../../helpers/asked-again.ts';

let team: Team;

beforeAll(async () => {
  team = await Team.found();
});
afterAll(() => team.stop());

describe('a removed member', () => {
  it('is out at once: keys, waits, the stream of changes, the web inbox and links', async () => {
    const visitor = await team.joined('adam@example.com', 'admin');
    const { api_key: key } = await team.keyOf('adam@example.com');
    const made = await team.call<{ api_key: string }>(
      'POST',
      '/v1/keys',
      { name: 'side door', scopes: ['inbox:read'] },
      key,
    );
    const { id, channel_id: channelId } = await team.member('a***@example.com');
    expect(channelId).toBe(team.ownerChannel);
    const adam = (await team.members()).find(({ role }) => role === 'admin');
    const people = await TestPeople.of(team.gateway, systemClock(), team.projectId);
    const requestId = await team.asked({ approvers: [adam?.channel_id] });
    const token = await people.link(requestId, adam?.channel_id ?? '');
    const path = '/v1/inbox/wait?timeout_seconds=50';
    const wait = askedAgain(() => team.call('GET', path, undefined, key));
    const stream = await ChangeStream.open(team.gateway.url, key);

    const page = team.page(`members/${adam?.id ?? ''}`);
    const owner = await team.owner();
    await owner.get(`${page}?step=remove`);
    expect((await owner.post(page, { fields: { act: 'remove' } })).status).toBe(200);
    expect((await team.call('GET', '/v1/whoami', undefined, key)).status).toBe(401);
    expect((await team.call('GET', '/v1/whoami', undefined, made.body.api_key)).status).toBe(401);
    expect((await wait).body.error?.code).toBe('KEY_REVOKED');
    await stream.ended();
    expect((await visitor.get(team.page('requests'))).status).toBe(404);
    expect(await team.gateway.gateway.approvals.open(token)).toBeNull();

    expect(await team.request(requestId)).toMatchObject({
      status: 'pending',
      approvers: [team.ownerChannel],
    });
    expect((await team.members()).map((one) => one.id)).toEqual([id]);
    const login = await new Person(team.gateway, 'adam@example.com').confirmed();
    const again = { login_id: login, project_id: team.projectId };
    expect((await post(team.gateway, '/v1/auth/keys', again)).code).toBe('NOT_FOUND');
    const { body } = await team.call<{ items: { op: string }[] }>('GET', '/v1/ledger?limit=100');
    const recorded = body.items.map(({ op }) => op);
    expect(recorded).toEqual(
      expect.arrayContaining(['member_remove', 'member.removed', 'key.revoked', 'member.joined']),
    );
  });

  it('may have left alone, and others may not be removed without an admin’s scope', async () => {
    const visitor = await team.joined('vera@example.com', 'viewer');
    await team.joined('mia@example.com', 'member');
    const vera = await team.member('v***@example.com');
    const mia = await team.member('m***@example.com');
    const { api_key: key } = await team.keyOf('vera@example.com');
    const refused = await team.call('DELETE', `/v1/members/${mia.id}`, undefined, key);
    expect(refused.body.error).toMatchObject({
      code: 'SCOPE_MISSING',
      details: { scope: 'admin' },
    });
    const page = team.page(`members/${vera.id}`);
    expect((await visitor.get(`${page}?step=remove`)).html).toContain('Leave this project?');
    expect((await visitor.post(page, { fields: { act: 'remove' } })).location).toBe('/ui');
    expect((await team.call('GET', '/v1/whoami', undefined, key)).status).toBe(401);
  });

  it('is an owner or an admin only if an owner agrees, when a key asks', async () => {
    await team.joined('olga@example.com', 'owner');
    const olga = await team.member('o***@example.com');
    const { body } = await team.call<{ removed_at: string | null; request_id: string }>(
      'DELETE',
      `/v1/members/${olga.id}`,
    );
    expect(body.removed_at).toBeNull();
    expect(await team.request(body.request_id)).toMatchObject({
      status: 'pending',
      approvers: [team.ownerChannel, olga.channel_id],
    });
    expect((await team.member('o***@example.com')).status).toBe('active');
  });
});
