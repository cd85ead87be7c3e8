import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import type { ServerInfo } from '../../kernel/context.ts';
import { isoTime } from '../../lib/clock.ts';
import { invalid } from '../../lib/errors.ts';
import type { MakerNames } from '../access/maker.ts';
import { ROLES } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';

/** A member as callers see it, with their address masked. */
export const memberView = named(
  'Member',
  z
    .object({
      id: z.string().describe('`mbr_…`.'),
      role: z.enum(ROLES).describe('What they may do and decide.'),
      address: z.string().nullable().describe('Masked.'),
      status: z
        .enum(['asked', 'invited', 'active', 'removed'])
        .describe('`asked`: an owner must approve the invitation first.'),
      channel_id: z
        .string()
        .nullable()
        .describe('Where they are asked; null if they decide nothing.'),
      invited_by: z.string().nullable().describe('The key or the member that invited them.'),
      inviter: z
        .string()
        .nullable()
        .describe('The same for people; null for who founded the project.'),
      created_at: z.string().describe('When they were invited.'),
      expires_at: z
        .string()
        .nullable()
        .describe('When the invitation expires; null if it has none.'),
      joined_at: z.string().nullable().describe('When they accepted.'),
    })
    .describe('A person who shares the project.'),
);

export async function toMemberView(
  row: MemberRow,
  names: MakerNames,
): Promise<z.output<typeof memberView>> {
  return {
    id: row.id,
    role: row.role,
    address: row.masked,
    status: row.status,
    channel_id: row.channel_id,
    invited_by: row.invited_by,
    inviter: row.invited_by === null ? null : await names.of(row.invited_by),
    created_at: row.created_at,
    expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
    joined_at: row.joined_at,
  };
}

export const memberId = z
  .string()
  .regex(/^mbr_[0-9a-z]{26}$/, 'Expected a member id such as `mbr_01j…`.')
  .describe('The member, `mbr_…`.');

/** The additional data that binds a sealed address to its member. */
export function memberAad(projectId: string, id: string): string {
  return `member|${projectId}|${id}|address`;
}

/** Refuses where nobody can sign in: a project on one machine belongs to whoever uses it. */
export function refuseLocal({ signsIn = false }: ServerInfo, path: string): void {
  if (signsIn) return;
  throw invalid({
    path,
    message:
      'This project is on one machine, where nobody signs in. To share a project, run a gateway: svc gateway, then svc login --gateway URL.',
  });
}
