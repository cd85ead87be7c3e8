import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import { INVITATION_RESEND_MS, MEMBERS_MAX } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { comparableAddress, maskedAddress } from '../../rules/mail/mail-address.ts';
import { ROLES, type Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { MakerNames } from '../access/maker.ts';
import { refuseAddress } from '../channel/address.ts';
import { addressHashText } from '../channel/view.ts';
import { tooSoon } from '../fields.ts';
import { askAboutMember } from './ask-owners.ts';
import { permissionFor } from './authority.ts';
import { sendInvitation } from './invitation.ts';
import { memberAad, memberView, refuseLocal, toMemberView } from './view.ts';

const ADDED_WITHIN_MS = 3_600_000;

export const memberInvite = defineOperation({
  name: 'member_invite',
  summary: 'Invite a person to share the project.',
  description:
    'Mails a link that is good for 7 days; calling again sends a new one, once a minute. A key can invite members and viewers; for other roles an owner must approve first: `request_id` names the request.',
  scope: 'admin',
  input: z.strictObject({
    email: z.string().max(320).describe('Their address, `local@domain`.'),
    role: z.enum(ROLES).describe('What they may do.'),
  }),
  output: z.object({
    member: memberView,
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['CHANNEL_ADDRESS_REJECTED', 'RATE_LIMITED', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/members', status: 201 },
  mcp: false,
  cli: {
    usage: 'member invite <email>',
    examples: [
      'member invite ben@example.com --role member',
      'member invite dana@example.com --role approver',
    ],
  },
  subject: (_input, output) => output.member?.id,
  example: { email: 'ben@example.com', role: 'member' },
}).write({
  prepare: async ({ server }, { email }) => {
    refuseLocal(server, 'email');
    refuseAddress(email, server.mail.domain);
  },
  commit: async (context, { email, role }) => {
    const { store, vault, project } = context;
    const hash = vault.sign(addressHashText(project.id, comparableAddress(email)));
    const known = await store.members.findByAddress(hash);
    const member = known ?? (await insert(context, email, { hash, role }));
    if (known) await refuseRepeat(context, known, role);
    const requestId = await inviteOrAsk(context, member);
    const current = (await store.members.find(member.id)) ?? member;
    return {
      member: await toMemberView(current, new MakerNames(context)),
      request_id: requestId,
    };
  },
});

/** Sends the invitation, or asks owners whether it may be sent; returns the id of their request. */
async function inviteOrAsk(context: WriteContext, member: MemberRow): Promise<string | null> {
  const isAllowed =
    member.status === 'invited' || permissionFor(context, [member.role]) === 'at_once';
  if (isAllowed) {
    await sendInvitation(context, member.id);
    return null;
  }
  const summary = `Invite ${member.masked ?? ''} as ${member.role}`;
  return askAboutMember(context, member.id, { change: 'invite' }, summary);
}

async function insert(
  context: WriteContext,
  email: string,
  { hash, role }: { readonly hash: string; readonly role: Role },
): Promise<MemberRow> {
  const { store, caller, now, newId, vault, project } = context;
  if ((await store.members.list()).length >= MEMBERS_MAX) {
    throw invalid({ path: 'email', message: `A project has at most ${MEMBERS_MAX} members.` });
  }
  await refuseTooMany(context);
  const id = newId('mbr');
  const row: MemberRow = {
    id,
    role,
    status: 'asked',
    account_id: null,
    channel_id: null,
    address: vault.seal(memberAad(project.id, id), email),
    address_hash: hash,
    masked: maskedAddress(email),
    invited_by: caller.keyId,
    created_at: isoTime(now),
    joined_at: null,
    token_at: null,
    expires_at: null,
  };
  await store.members.insert(row);
  return row;
}

/** Invitations are mails that nobody asked for, so a key must not invite and remove people endlessly. */
async function refuseTooMany({ store, now }: WriteContext): Promise<void> {
  const before = await store.members.addedBefore(MEMBERS_MAX);
  const waitMs = before === null ? 0 : Date.parse(before) + ADDED_WITHIN_MS - now;
  if (waitMs > 0) throw tooSoon(waitMs, 'Too many people were invited within an hour.');
}

async function refuseRepeat({ now }: WriteContext, known: MemberRow, role: Role): Promise<void> {
  const { id, status, token_at: sentAt } = known;
  if (status === 'active') {
    throw invalid({ path: 'email', message: `This address is a member already: ${id}.` });
  }
  if (known.role !== role) {
    throw invalid({
      path: 'role',
      message: `They are invited as ${known.role}. Change it with member_role, or remove ${id} first.`,
    });
  }
  if (sentAt === null || now >= sentAt + INVITATION_RESEND_MS) return;
  const hint = 'A link was sent to this address less than a minute ago.';
  throw tooSoon(sentAt + INVITATION_RESEND_MS - now, hint);
}
