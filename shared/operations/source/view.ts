import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { SourceRow } from '../../store/sources.ts';
import type { ProjectInfo, ServerInfo, Vault } from '../../kernel/context.ts';
import { projectAddress } from '../email/project-address.ts';

export const VERIFICATIONS = [
  'stripe',
  'github',
  'hmac_sha256',
  'standard_webhooks',
  'none',
] as const;

/** A source as callers see it: its address, never its secret. */
export const sourceView = z.object({
  name: z.string(),
  type: z.enum(['webhook', 'email']),
  verification: z.enum(VERIFICATIONS),
  signature_header: z.string().nullable(),
  /** Where webhooks are sent; of a source of mail, where a mail server may POST whole mails. */
  url: z.string().nullable(),
  /** The address of the project; of a source of mail alone. */
  address: z.string().nullable(),
  created_at: z.string(),
  /** Until when the secret before the newest is taken as well. */
  previous_secret_valid_until: z.string().nullable(),
});

/** The place in a row a sealed value belongs to; moving it elsewhere makes it unreadable. */
export function sourceAad(
  column: 'secret' | 'previous_secret' | 'token',
  projectId: string,
  id: string,
): string {
  return `source|${projectId}|${id}|${column}`;
}

/** A stored secret in clear; null where there is none. */
export function openSecret(
  row: SourceRow,
  column: 'secret' | 'previous_secret',
  vault: Vault,
  projectId: string,
): string | null {
  const sealed = row[column];
  if (sealed === null) return null;
  return Buffer.from(vault.open(sourceAad(column, projectId, row.id), sealed)).toString('utf8');
}

/** Until when the secret before the newest holds, in milliseconds; null when none does, though its row may still be there. */
export function previousUntil(
  { previous_valid_until: until }: SourceRow,
  now: number,
): number | null {
  return until !== null && now < until ? until : null;
}

/** The public fields of a stored source. */
export function toSourceView(
  row: SourceRow,
  context: {
    readonly vault: Vault;
    readonly server: ServerInfo;
    readonly project: ProjectInfo;
    readonly now: number;
  },
): z.input<typeof sourceView> {
  const { vault, server, project, now } = context;
  const until = previousUntil(row, now);
  const token = row.token && vault.open(sourceAad('token', project.id, row.id), row.token);
  return {
    name: row.name,
    type: row.type,
    verification: row.verification,
    signature_header: row.signature_header,
    url: token ? `${server.urls.hooks}/w/${Buffer.from(token).toString('utf8')}` : null,
    address: row.type === 'email' ? projectAddress(server.mail, project.slug) : null,
    created_at: row.created_at,
    previous_secret_valid_until: until === null ? null : isoTime(until),
  };
}
