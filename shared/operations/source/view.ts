import * as z from 'zod';
import type { SourceRow } from '../../store/sources.ts';
import type { ProjectInfo, ServerInfo, Vault } from '../../context.ts';
import { projectAddress } from '../../rules/project-address.ts';

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
});

/** The place in a row a sealed value belongs to; moving it elsewhere makes it unreadable. */
export function sourcePlace(column: 'secret' | 'token', projectId: string, id: string): string {
  return `source|${projectId}|${id}|${column}`;
}

/** The public fields of a stored source. */
export function toSourceView(
  row: SourceRow,
  context: { readonly vault: Vault; readonly server: ServerInfo; readonly project: ProjectInfo },
): z.input<typeof sourceView> {
  const { vault, server, project } = context;
  const token = row.token && vault.open(sourcePlace('token', project.id, row.id), row.token);
  return {
    name: row.name,
    type: row.type,
    verification: row.verification,
    signature_header: row.signature_header,
    url: token ? `${server.urls.hooks}/w/${Buffer.from(token).toString('utf8')}` : null,
    address: row.type === 'email' ? projectAddress(server.mail, project.slug) : null,
    created_at: row.created_at,
  };
}
