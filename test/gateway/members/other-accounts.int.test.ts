import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, Person } from '../auth/sign-in/person.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';

let team: Team;
let owner: WebVisitor;

beforeAll(async () => {
  team = await Team.found();
  owner = await team.owner();
});
afterAll(() => team.stop());

describe('an invitation to an address', () => {
  it('in another spelling gives no session as the person of the mailbox', async () => {
    const link = await team.inviteFrom(owner, 'ana+bot@example.com', 'viewer');
    const thief = new WebVisitor(team.gateway);
    const page = await thief.enter(link);
    expect([page.status, page.html.includes('other spelling of your address')]).toEqual([
      409,
      true,
    ]);
    expect(thief.cookie).toBeNull();
    expect((await team.member('a***@example.com')).role).toBe('owner');
  });

  it('in another spelling doesn’t fail while the usual one is invited too', async () => {
    const usual = await team.inviteFrom(owner, 'alice@example.com', 'viewer');
    const other = await team.inviteFrom(owner, 'alice+dev@example.com', 'viewer');
    expect((await new WebVisitor(team.gateway).enter(usual)).status).toBe(303);
    expect((await new WebVisitor(team.gateway).enter(other)).status).toBe(409);
  });

  it('of somebody with an account joins, but signs nobody in who has only the link', async () => {
    const first = await team.inviteFrom(owner, 'ben@example.com', 'viewer');
    await new WebVisitor(team.gateway).enter(first);
    await team.call('DELETE', `/v1/members/${(await team.member('b***@example.com')).id}`);
    const again = await team.inviteFrom(owner, 'ben@example.com', 'viewer');
    const holder = new WebVisitor(team.gateway);
    const page = await holder.enter(again);
    expect([page.status, page.location, holder.cookie]).toEqual([
      303,
      '/ui/sign-in?joined=1',
      null,
    ]);
    expect((await holder.get(page.location ?? '')).html).toContain('You joined. Sign in');
    expect((await team.member('b***@example.com')).status).toBe('active');
  });

  it('leads on to the project who is signed in at that address', async () => {
    const visitor = new WebVisitor(team.gateway);
    await visitor.enter(await team.inviteFrom(owner, 'carl@example.com', 'viewer'));
    const { id } = await team.member('c***@example.com');
    await team.call('DELETE', `/v1/members/${id}`);
    const link = await team.inviteFrom(owner, 'carl@example.com', 'viewer');
    expect((await visitor.enter(link)).location).toBe('/ui/p/shop/members?joined=1');
    expect((await visitor.get(team.page('members'))).status).toBe(200);
  });
});

async function found(email: string, slug: string) {
  const login = await new Person(team.gateway, email).confirmed();
  return post(team.gateway, '/v1/projects', { login_id: login, name: 'Own', slug });
}

describe('where sign-up is closed, an invited viewer', () => {
  it('founds no project of their own', async () => {
    await new WebVisitor(team.gateway).enter(
      await team.inviteFrom(owner, 'vera@example.com', 'viewer'),
    );
    const refused = await found('vera@example.com', 'veras');
    expect([refused.status, refused.code, refused.details]).toEqual([
      409,
      'PROJECT_LIMIT_REACHED',
      { limit: 0 },
    ]);
  });

  it('founds one once the operator invited them', async () => {
    const { invitations } = team.gateway.gateway.operator;
    await invitations.invite('vera@example.com');
    expect((await found('vera@example.com', 'veras')).status).toBe(201);
    expect((await found('vera@example.com', 'veras-too')).status).toBe(201);
  });
});
