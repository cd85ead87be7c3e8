import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../helpers/gateway.ts';
import { mailsOf, tokensOf } from '../../helpers/outbox.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { post, Person } from '../auth/sign-in/person.ts';
import { parsedMail } from '../mail/parsed-mail.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team, type Member } from './team.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const clock = new FakeClock();
let team: Team;

beforeAll(async () => {
  team = await Team.found(clock);
});
afterAll(() => team.stop());

function invite(email: string, role: string, key?: string) {
  return team.call<{ member: Member; request_id: string | null }>(
    'POST',
    '/v1/members',
    { email, role },
    key,
  );
}

async function newLink(count: number): Promise<string> {
  const until = performance.now() + 10_000;
  while (performance.now() < until) {
    const tokens = tokensOf(team.gateway.folder, 'ui/join');
    if (tokens.length >= count) return `/ui/join/${tokens.at(-1) ?? ''}`;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('No invitation came.');
}

const invitations = (): number => tokensOf(team.gateway.folder, 'ui/join').length;

describe('an invitation', () => {
  it('by a key names project, role and who invites, and is accepted by a button', async () => {
    const sent = await invite('ben@example.com', 'member');
    expect(sent.status).toBe(201);
    expect(sent.body).toMatchObject({
      request_id: null,
      member: { role: 'member', status: 'invited', address: 'b***@example.com', joined_at: null },
    });
    const link = await newLink(1);
    const mail = parsedMail(mailsOf(team.gateway.folder).at(-1) ?? '');
    expect(mail.text).toContain('"Acme Shop" (shop)');
    expect(mail.text).toMatch(/Role: +member/);
    expect(mail.text).toMatch(/Invited by: +"a\*\*\*@example.com"/);

    const visitor = new WebVisitor(team.gateway);
    const page = await visitor.get(link);
    expect(page.html).toContain('Join this project?');
    expect((await team.member('b***@example.com')).status).toBe('invited');
    const accepted = await visitor.post(link);
    expect(accepted.location).toBe('/ui/p/shop/members?joined=1');
    const welcome = await visitor.get(accepted.location ?? '');
    expect(welcome.html).toContain(`svc login --gateway ${team.gateway.url} --project shop`);
    expect(await team.member('b***@example.com')).toMatchObject({
      status: 'active',
      channel_id: null,
    });
  });

  it('works once', async () => {
    const used = `/ui/join/${tokensOf(team.gateway.folder, 'ui/join')[0] ?? ''}`;
    const page = await new WebVisitor(team.gateway).get(used);
    expect([page.status, page.html.includes('This invitation doesn’t work')]).toEqual([404, true]);
  });

  it('lets a person in where sign-up is closed, and gives no more than the role', async () => {
    const key = await team.keyOf('ben@example.com');
    expect(key.key.scopes).toEqual([
      'ledger:read',
      'inbox:read',
      'inbox:write',
      'approvals',
      'disk',
      'send',
    ]);
  });

  it('refuses a key with nothing that the role may have', async () => {
    const login = await new Person(team.gateway, 'ben@example.com').confirmed();
    const asked = { login_id: login, project_id: team.projectId, scopes: ['admin'] };
    const refused = await post(team.gateway, '/v1/auth/keys', asked);
    expect([refused.status, refused.code]).toEqual([400, 'VALIDATION_FAILED']);
    const again = { ...asked, scopes: ['admin', 'disk'] };
    const given = await post(team.gateway, '/v1/auth/keys', again);
    expect(given.body['key']).toMatchObject({ scopes: ['disk'] });
  });

  it('doesn’t let anybody else in', async () => {
    await post(team.gateway, '/v1/auth/start', { email: 'mallory@example.com' });
    const mails = mailsOf(team.gateway.folder).map((mail) => parsedMail(mail).text);
    expect(mails.filter((text) => text.includes('mallory@example.com'))).toMatchObject([
      expect.stringContaining('You need an invitation first.'),
    ]);
  });

  it('is sent again once a minute, and then the earlier link is dead', async () => {
    const before = invitations();
    await invite('carl@example.com', 'viewer');
    const first = await newLink(before + 1);
    const soon = await invite('carl@example.com', 'viewer');
    expect([soon.status, soon.body.error?.code]).toEqual([429, 'RATE_LIMITED']);
    clock.advance(MINUTE_MS);
    expect((await invite('carl@example.com', 'viewer')).status).toBe(201);
    const second = await newLink(before + 2);
    const visitor = new WebVisitor(team.gateway);
    expect((await visitor.get(first)).status).toBe(404);
    expect((await visitor.get(second)).status).toBe(200);
  });

  it('keeps its role, and is not sent to a member', async () => {
    const other = await invite('carl@example.com', 'member');
    expect(other.body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'role' }] },
    });
    const member = await invite('ben@example.com', 'member');
    expect(member.body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'email' }] },
    });
    const bad = await invite('not an address', 'member');
    expect([bad.status, bad.body.error?.code]).toEqual([400, 'CHANNEL_ADDRESS_REJECTED']);
  });

  it('is forgotten after a week, with the address', async () => {
    const before = invitations();
    await invite('dora@example.com', 'viewer');
    const link = await newLink(before + 1);
    clock.advance(7 * DAY_MS + 1);
    expect((await new WebVisitor(team.gateway).get(link)).status).toBe(404);
    const project = await team.gateway.gateway.projects.find(team.projectId);
    if (project) await maintain(project, clock);
    const left = (await team.members()).map(({ address }) => address);
    expect(left).not.toContain('d***@example.com');
  });

  it('with deciding power needs an owner’s approval when a key makes it', async () => {
    const before = invitations();
    const { body } = await invite('fay@example.com', 'approver');
    expect(body.member.status).toBe('asked');
    const requestId = body.request_id ?? '';
    expect(await team.request(requestId)).toMatchObject({
      status: 'pending',
      approvers: [team.ownerChannel],
    });
    expect((await invite('fay@example.com', 'approver')).body.request_id).toBe(requestId);
    expect(invitations()).toBe(before);
    const owner = await team.owner();
    const path = team.page(`requests/${requestId}`);
    await owner.get(path);
    const asked = await owner.post(path, { fields: { verb: 'approve' } });
    const confirm = await owner.get(asked.location ?? '');
    const [, step = ''] = /name="confirm" value="([^"]*)"/.exec(confirm.html) ?? [];
    await owner.post(path, { fields: { confirm: step } });
    expect((await team.request(requestId)).status).toBe('approved');
    const visitor = new WebVisitor(team.gateway);
    expect((await visitor.enter(await newLink(before + 1))).status).toBe(303);
    const { channel_id: channelId } = await team.member('f***@example.com');
    const { body: listed } = await team.call<{ items: { id: string; status: string }[] }>(
      'GET',
      '/v1/channels',
    );
    expect(listed.items.find(({ id }) => id === channelId)?.status).toBe('active');
  });
});
