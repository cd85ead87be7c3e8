import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { VERIFICATIONS } from '../../senders/registry.ts';
import { INGRESS_LIMIT_KINDS } from '../../rules/inbox/ingress-limit.ts';
import type { SourceRow } from '../../store/tables/inbox/sources.ts';
import { makerFields, MakerNames } from '../access/maker.ts';
import type { ReadContext, Vault } from '../../kernel/context.ts';
import { limitedNow } from './limited.ts';
import { projectAddress } from '../email/project-address.ts';

/** A source as callers see it: with its address, without its secret. */
export const sourceView = named(
  'Source',
  z
    .object({
      name: z.string().describe('Unique in the project.'),
      type: z.enum(['webhook', 'email']).describe('What it receives.'),
      verification: z
        .enum(VERIFICATIONS)
        .describe('How deliveries are signed; `none` accepts anyone with the URL.'),
      signature_header: z.string().nullable().describe("`hmac_sha256`: the signature's header."),
      url: z
        .string()
        .nullable()
        .describe('Where to send webhooks; for mail, where a mail server can POST whole mails.'),
      address: z.string().nullable().describe("Mail: the project's address."),
      created_at: z.string().describe('When it was added.'),
      previous_secret_valid_until: z
        .string()
        .nullable()
        .describe('How long the previous secret stays valid; null if there is none.'),
      ...makerFields,
      secret_maker: z
        .string()
        .nullable()
        .describe('Who set the secret, as `maker`; null without a secret.'),
    })
    .describe('Where events come from.'),
);

/** A source with what has reached it. */
export const sourceWithActivity = named(
  'SourceWithCounts',
  sourceView
    .extend({
      last_event_at: z.string().nullable().describe('When the last event arrived.'),
      events_24h: z.int().describe('Events of the last 24 hours.'),
      rejected_24h: z.int().describe('Deliveries refused in the last 24 hours.'),
      repeated_24h: z
        .int()
        .describe(
          'Deliveries of the last 24 hours that made no event, because they had no id and the bytes of an earlier one.',
        ),
      stored_bytes: z.int().describe('What its events count until their payloads are purged.'),
      limited: z
        .object({
          kind: z.enum(INGRESS_LIMIT_KINDS).describe('Which limit.'),
          limit: z.int().describe('What it may store, in all or in the time of the limit.'),
          used: z.int().describe('What it has stored of that.'),
          retry_after: z.int().describe('Seconds until it takes events again.'),
        })
        .nullable()
        .describe('The limit that keeps it from taking events now; null if it takes them.'),
    })
    .describe('A source with what has reached it.'),
);

/** The additional data that binds a sealed value to its row and column; the vault can't open it anywhere else. */
export function sourceAad(
  column: 'secret' | 'previous_secret' | 'token',
  projectId: string,
  id: string,
): string {
  return `source|${projectId}|${id}|${column}`;
}

/** The secret in plain text, or null if the column is empty. */
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

/** When the previous secret stops working, in milliseconds; null if none works now, even if the row still has one. */
export function previousUntil(
  { previous_valid_until: until }: SourceRow,
  now: number,
): number | null {
  return until !== null && now < until ? until : null;
}

/** Where to send webhooks; null if the source takes none. */
export function hookUrl(
  { id, token }: SourceRow,
  { vault, server, project }: Pick<ReadContext, 'vault' | 'server' | 'project'>,
): string | null {
  const opened = token && vault.open(sourceAad('token', project.id, id), token);
  return opened ? `${server.urls.hooks}/w/${Buffer.from(opened).toString('utf8')}` : null;
}

/** The public fields of a stored source. */
export async function toSourceView(
  row: SourceRow,
  context: Pick<ReadContext, 'vault' | 'server' | 'project' | 'now' | 'store'>,
  names = new MakerNames(context),
): Promise<z.input<typeof sourceView>> {
  const { server, project, now } = context;
  const { created_by, secret_by } = row;
  const until = previousUntil(row, now);
  return {
    name: row.name,
    type: row.type,
    verification: row.verification,
    signature_header: row.signature_header,
    url: hookUrl(row, context),
    address: row.type === 'email' ? projectAddress(server.mail, project.slug) : null,
    created_at: row.created_at,
    previous_secret_valid_until: until === null ? null : isoTime(until),
    created_by,
    maker: await names.of(created_by),
    secret_maker: row.secret === null ? null : await names.of(secret_by),
  };
}

/** The public fields of a stored source, and what has reached it. */
export async function toSourceWithActivity(
  row: SourceRow,
  context: ReadContext,
  names?: MakerNames,
): Promise<z.input<typeof sourceWithActivity>> {
  const { use, limited } = await limitedNow(context, row.id);
  return {
    ...(await toSourceView(row, context, names)),
    ...(await context.store.sources.activity(row.id, context.now)),
    stored_bytes: use.storedBytes,
    limited,
  };
}
