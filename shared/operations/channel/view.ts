import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { makerFields, type MakerNames } from '../access/maker.ts';
import type { ChannelRow } from '../../store/tables/people/channels.ts';

/** A channel as callers see it (spec section 2.5), with its address masked. */
export const channelView = named(
  'Channel',
  z
    .object({
      id: z.string().describe('`chn_…`.'),
      kind: z.enum(['email', 'telegram']).describe('How the person is reached.'),
      label: z.string().describe('A short name.'),
      address: z.string().nullable().describe('Masked; null for Telegram.'),
      status: z
        .enum(['added', 'verified', 'active', 'removed'])
        .describe('Only an active channel is asked.'),
      owner: z.boolean().describe("Whether it is the owner's."),
      created_at: z.string().describe('When it was added.'),
      ...makerFields,
      verified_at: z.string().nullable().describe('When the person confirmed the address.'),
      activated_at: z.string().nullable().describe('When the owner approved it.'),
      last_used_at: z.string().nullable().describe('When a person last decided through it.'),
      person_of: z
        .string()
        .nullable()
        .describe(
          'Whose an owner said it is: another channel of the person, or this one if they have no other.',
        ),
    })
    .describe('A person who can be asked, by mail or Telegram.'),
);

export async function toChannelView(
  row: ChannelRow,
  names: MakerNames,
): Promise<z.output<typeof channelView>> {
  return {
    id: row.id,
    kind: row.kind,
    label: row.label,
    address: row.masked,
    status: row.status,
    owner: row.owner === 1,
    created_at: row.created_at,
    created_by: row.created_by,
    // Nobody adds the owner's: it comes with the project.
    maker:
      row.owner === 1 && row.created_by === null ? 'the owner' : await names.of(row.created_by),
    verified_at: row.verified_at,
    activated_at: row.activated_at,
    last_used_at: row.last_used_at,
    person_of: row.person_of,
  };
}

/** The additional data that binds a sealed address to its channel. */
export function channelAad(projectId: string, channelId: string): string {
  return `channel|${projectId}|${channelId}|address`;
}

/** The text that we sign to find the channel of a Telegram chat and user. */
export function telegramText({
  chatId,
  userId,
}: {
  readonly chatId: number;
  readonly userId: number;
}): string {
  return `telegram|${chatId}|${userId}`;
}

/** The text that we sign to look an address up. The signature reveals nothing about the address. */
export function addressHashText(projectId: string, address: string): string {
  return `channel|address|1|${projectId}|${address}`;
}
