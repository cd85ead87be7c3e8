import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/lib/clock.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { TestPeople } from '../approvals/people.ts';
import type { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';

let team: Team;
const visitors = new Map<string, WebVisitor>();

const PEOPLE = [
  ['admin', 'adam@example.com'],
  ['member', 'mia@example.com'],
  ['approver', 'paul@example.com'],
  ['viewer', 'vera@example.com'],
] as const;

beforeAll(async () => {
  team = await Team.found();
  for (const [role, email] of PEOPLE) visitors.set(role, await team.joined(email, role));
  visitors.set('owner', await team.owner());
});
afterAll(() => team.stop());

function visitor(role: string): WebVisitor {
  const found = visitors.get(role);
  if (!found) throw new Error(role);
  return found;
}

/** The pages in the navigation, as a visitor sees them. */
async function pagesOf(role: string): Promise<string[]> {
  const { html } = await visitor(role).get(team.page('members'));
  const nav = html.slice(html.indexOf('<nav id="nav"'), html.indexOf('<main'));
  return [...nav.matchAll(/href="\/ui\/p\/shop\/(\w+)"/g)].map(([, path = '']) => path);
}

/** Presses Approve on the page of a request; the status that the request has then. */
async function approve(role: string, requestId: string): Promise<string> {
  const path = team.page(`requests/${requestId}`);
  await visitor(role).get(path);
  await visitor(role).post(path, { fields: { verb: 'approve' } });
  return (await team.request(requestId)).status;
}

describe('a member’s web session', () => {
  it('sees what the role’s scopes allow', async () => {
    const everything = await pagesOf('owner');
    expect(everything).toContain('keys');
    expect(await pagesOf('admin')).toEqual(everything);
    const own = ['overview', 'settings', 'members', 'keys', 'sessions', 'usage'];
    expect((await pagesOf('viewer')).toSorted()).toEqual(
      [...own, 'events', 'disk', 'mail', 'routes', 'ledger'].toSorted(),
    );
    const asked = ['requests', 'events', 'mail', 'routes', 'channels', 'browsers', 'policy'];
    expect((await pagesOf('approver')).toSorted()).toEqual([...own, ...asked].toSorted());
  });

  it('decides what the role decides, and nothing more', async () => {
    expect(await approve('member', await team.asked())).toBe('pending');
    expect(await approve('viewer', await team.asked())).toBe('pending');
    expect(await approve('approver', await team.asked())).toBe('approved');
    expect(await approve('admin', await team.asked())).toBe('approved');
    expect(await approve('owner', await team.asked())).toBe('approved');
  });

  it('says why there is no button', async () => {
    const id = await team.asked();
    const { html } = await visitor('member').get(team.page(`requests/${id}`));
    expect(html).toContain('Your role decides nothing.');
    expect(html).not.toContain('value="approve"');
  });

  it('names the member’s channel as who decided, and their role in the ledger', async () => {
    const id = await team.asked();
    await approve('approver', id);
    const { channel_id: channelId } = await team.member('p***@example.com');
    expect((await team.request(id)).decided_by).toBe(`channel:${channelId}`);
    await visitor('admin').get(team.page('keys?add=1'));
    const { body } = await team.call<{ items: { op: string; agent: string | null }[] }>(
      'GET',
      '/v1/ledger?op=member_invite',
    );
    expect(body.items[0]).toMatchObject({ op: 'member_invite', agent: 'owner' });
  });
});

describe('who is asked', () => {
  it('is only who may decide: nobody with a role that decides nothing', async () => {
    const { approvers } = await team.request(await team.asked());
    const members = await team.members();
    const asked = members.filter(({ channel_id: id }) => id !== null && approvers.includes(id));
    expect(asked.map(({ role }) => role).toSorted()).toEqual(['admin', 'approver', 'owner']);
  });

  it('about a policy is no approver', async () => {
    const proposal = { policy: { rules: [] }, wait_seconds: 0 };
    const { body } = await team.call<{ request_id: string }>('PUT', '/v1/policy', proposal);
    const { approvers } = await team.request(body.request_id);
    const { channel_id: approver } = await team.member('p***@example.com');
    const { channel_id: admin } = await team.member('a***@example.com');
    expect(approvers).not.toContain(approver);
    expect([approvers.includes(team.ownerChannel), admin === null]).toEqual([true, false]);
  });

  it('decides by the mail as well', async () => {
    const { channel_id: approver } = await team.member('p***@example.com');
    const id = await team.asked({ approvers: [approver] });
    const people = await TestPeople.of(team.gateway, systemClock(), team.projectId);
    const token = await people.link(id, approver ?? '');
    await visit(`${team.gateway.url}/a/${token}`, { button: 'Approve' });
    expect(await team.request(id)).toMatchObject({
      status: 'approved',
      decided_by: `channel:${approver}`,
    });
  });
});

describe('the Members page', () => {
  it('invites from an admin’s session as far as an admin may', async () => {
    const admin = visitor('admin');
    const page = `${team.page('members')}?invite=1`;
    await admin.get(page);
    const viewer = await admin.post(page, { fields: { email: 'kim@example.com', role: 'viewer' } });
    expect((await admin.get(viewer.location ?? '')).html).toContain(
      'The invitation wasn’t emailed',
    );
    await admin.get(page);
    const owner = await admin.post(page, { fields: { email: 'lea@example.com', role: 'owner' } });
    expect((await admin.get(owner.location ?? '')).html).toContain('An owner is asked first');
    expect((await team.member('l***@example.com')).status).toBe('asked');
  });

  it('shows a viewer only themselves, and no way to invite', async () => {
    const { html } = await visitor('viewer').get(team.page('members'));
    expect(html).toContain('v***@example.com');
    expect(html).not.toContain('m***@example.com');
    expect(html).not.toContain('?invite=1');
  });

  it('explains what is wrong with an address', async () => {
    const owner = visitor('owner');
    const page = `${team.page('members')}?invite=1`;
    await owner.get(page);
    const refused = await owner.post(page, { fields: { email: 'nobody', role: 'viewer' } });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('id="email-problem"');
  });
});
