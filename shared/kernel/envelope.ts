import * as z from 'zod';
import type { Caller } from './context.ts';
import { withoutForeignNames, type RequestTexts } from './disk-limit.ts';
import type { EventLinks } from './links.ts';
import { named } from './schema-names.ts';
import { mailParts } from '../rules/mail/mail-parts.ts';
import { SECRET_KNOWN } from '../rules/inbox/verified.ts';
import type { EventRow } from '../store/tables/inbox/events.ts';
import { PAYLOAD_INLINE_MAX_BYTES } from '../lib/limits.ts';
import { effective } from '../rules/inbox/event-state.ts';
import { wakesAt, type Condition } from '../rules/inbox/park.ts';
import { decodePayload } from '../rules/payload/payload.ts';
import { isoTime } from '../lib/clock.ts';
import { queueRow } from './queue-row.ts';

const attachment = named(
  'Attachment',
  z
    .object({
      name: z.string().describe('File name; `evt_…/name` names it in file operations.'),
      content_type: z.string().describe('Media type, as the mail states it.'),
      size_bytes: z.int().describe('Size after decoding.'),
      content_id: z.string().nullable().describe('How the HTML refers to it.'),
      inline: z.boolean().describe('Shown inside the HTML.'),
      sha256: z.string().describe('SHA-256 of the bytes, in hex.'),
      url: z
        .string()
        .optional()
        .describe(
          'Link to the file, valid for an hour; only when the event is claimed or read alone.',
        ),
      url_expires_at: z.string().optional().describe('When the link ends.'),
    })
    .describe('A file of a mail.'),
);

const blockedAttachment = named(
  'BlockedAttachment',
  z
    .object({
      name: z.string().describe('File name, as the mail states it.'),
      content_type: z.string().describe('Media type, as the mail states it.'),
      size_bytes: z.int().describe('Size after decoding.'),
      reason: z
        .enum(['executable', 'encrypted_archive', 'too_large', 'too_many'])
        .describe('Why it was not stored.'),
    })
    .describe('A file of a mail that was not stored.'),
);

export const EVENT_STATUSES = ['pending', 'claimed', 'done', 'failed', 'dead', 'waiting'] as const;

/** For parked events. */
const waitingFields = {
  waiting_for: z
    .array(
      z.object({
        id: z.string().describe('What it waits for: a request, a mail, another event or a time.'),
        status: z.string().describe('How that stands.'),
        expires_at: z.string().describe('When it ends at the latest.'),
      }),
    )
    .optional()
    .describe('Parked events only: what has to end before it is pending again.'),
  parked_at: z.string().optional().describe('When it was parked.'),
  wakes_at: z.string().optional().describe('When it wakes at the latest.'),
};

/** An event as callers see it (spec section 2.1), plus `retry_at` and `suspected_replay`. */
export const eventSchema = named(
  'Event',
  z
    .object({
      id: z.string().describe('`evt_…`.'),
      project: z.string().describe('The owning project, `prj_…`.'),
      source: z
        .string()
        .describe('Name of the source; `service` for events that the service writes.'),
      channel: z.string().describe('`webhook` or `email` for received events.'),
      type: z
        .string()
        .describe(
          'What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`.',
        ),
      received_at: z.string().describe('When it arrived.'),
      verified: z.boolean().describe('The signature was checked; for mail, DKIM and DMARC passed.'),
      authenticated: z
        .literal('shared_secret')
        .optional()
        .describe(
          'The sender sent a secret along, which shows who it is and does not protect the content.',
        ),
      trust: z
        .enum(['external_untrusted', 'service'])
        .describe('Outsiders wrote the content, unless this is `service`.'),
      suspected_replay: z
        .boolean()
        .describe('The same content was received before under another id.'),
      reply_to: z.string().nullable().describe('Mail: the message that this one answers.'),
      headers: z
        .record(z.string(), z.string())
        .optional()
        .describe('Webhooks: the request headers, without credentials and signatures.'),
      payload: z
        .unknown()
        .describe(
          'The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer.',
        ),
      payload_url: z
        .string()
        .nullable()
        .describe(
          'Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone.',
        ),
      body_url: z
        .string()
        .optional()
        .describe(
          'Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed.',
        ),
      payload_truncated: z
        .boolean()
        .describe(
          'The payload was left out of this answer because it is over 8 KB; inbox_claim returns it.',
        ),
      payload_purged: z.boolean().describe('The payload was deleted, 30 days after it arrived.'),
      thread_id: z.string().nullable().optional().describe('Mail: the conversation it belongs to.'),
      html_url: z
        .string()
        .nullable()
        .optional()
        .describe('Mail: a safe page with the HTML, valid for an hour.'),
      attachments: z.array(attachment).optional().describe('Mail: the attached files.'),
      attachments_blocked: z
        .array(blockedAttachment)
        .optional()
        .describe('Mail: attached files that were not stored.'),
      status: z.enum(EVENT_STATUSES).describe('Where it is in the queue.'),
      attempts: z.int().describe('How often it failed or its lease ran out.'),
      retry_at: z.string().nullable().describe('When a failed event is pending again.'),
      reason: z.string().optional().describe('Failed and dead events: why, as the agent said it.'),
      gist: z.string().optional().describe('What it is about, in one line; only in a brief list.'),
      ...waitingFields,
    })
    .describe('A webhook, a mail, or what the service reports.'),
);

export type Envelope = z.output<typeof eventSchema>;

interface EnvelopeOptions {
  readonly project: string;
  readonly now: number;
  /** Who reads it; null for the address of a route, which only an admin sets. */
  readonly reader: Pick<Caller, 'diskPrefixes' | 'keyId'> | null;
  /**
   * `whole` includes the payload of any size, or a link to it, and a mail's links. Otherwise large payloads are left
   * out.
   */
  readonly payload: ({ readonly whole: true } & EventLinks) | { readonly whole: false };
}

/** Builds a stored event's envelope; its status is the one at `now`. */
export function toEnvelope(row: EventRow, options: EnvelopeOptions): Envelope {
  const queue = effective(queueRow(row), options.now);
  return {
    id: row.id,
    project: options.project,
    source: row.source,
    channel: row.channel,
    type: row.type,
    received_at: row.received_at,
    verified: row.verified === 1,
    ...(row.verified === SECRET_KNOWN && { authenticated: 'shared_secret' as const }),
    trust: row.trust === 'service' ? 'service' : 'external_untrusted',
    suspected_replay: row.suspected_replay === 1,
    reply_to: row.reply_to,
    ...(row.channel === 'webhook' && {
      headers: JSON.parse(row.headers) as Record<string, string>,
    }),
    ...payloadFields(row, options),
    ...(options.payload.whole && options.payload.bodyUrl && { body_url: options.payload.bodyUrl }),
    ...(row.channel === 'email' && mailFields(row, options.payload)),
    status: queue.status,
    attempts: queue.attempts,
    retry_at: queue.status === 'failed' && queue.due_at !== null ? isoTime(queue.due_at) : null,
    ...reasonOf(row, queue.status),
    ...(queue.status === 'waiting' && waitOf(row)),
  };
}

function waitOf(row: EventRow): Pick<Envelope, 'waiting_for' | 'parked_at' | 'wakes_at'> {
  if (row.conditions === null || row.parked_at === null) return {};
  const conditions = JSON.parse(row.conditions) as Condition[];
  const wakesOnAny = row.wakes_on_any === 1;
  return {
    waiting_for: conditions.map(shownCondition),
    parked_at: row.parked_at,
    wakes_at: isoTime(wakesAt({ conditions, wakesOnAny })),
  };
}

/** One thing that an event waits for, as callers see it. */
export function shownCondition({ id, status, expires_at }: Condition) {
  return { id, status, expires_at: isoTime(expires_at) };
}

function mailFields(
  row: EventRow,
  wanted: EnvelopeOptions['payload'],
): Pick<Envelope, 'thread_id' | 'html_url' | 'attachments' | 'attachments_blocked'> {
  const { attachments, attachments_blocked } = mailParts(row.headers);
  const { thread_id } = row;
  if (!wanted.whole) return { thread_id, html_url: null, attachments, attachments_blocked };
  const linked = attachments.map((part) => ({ ...part, ...wanted.linkTo(part.name) }));
  return { thread_id, html_url: wanted.htmlUrl, attachments: linked, attachments_blocked };
}

/** Why agents gave up on an event, while that matters. */
function reasonOf({ reason }: EventRow, status: Envelope['status']): Pick<Envelope, 'reason'> {
  const hasFailed = status === 'failed' || status === 'dead';
  return hasFailed && reason !== null ? { reason: JSON.parse(reason) as string } : {};
}

function payloadFields(
  row: EventRow,
  { payload: wanted, reader }: EnvelopeOptions,
): Pick<Envelope, 'payload' | 'payload_url' | 'payload_truncated' | 'payload_purged'> {
  const purged = row.kind === null;
  // A list leaves out large bodies, and damaged ones.
  const isLeftOut = row.size_bytes > PAYLOAD_INLINE_MAX_BYTES || row.body === null;
  const truncated = !purged && !wanted.whole && isLeftOut;
  const inline = row.kind !== null && row.body !== null && !truncated;
  return {
    payload:
      inline && row.kind && row.body
        ? shownPayload(row, decodePayload(row.kind, row.body), reader)
        : null,
    payload_url: wanted.whole ? wanted.url : null,
    payload_truncated: truncated,
    payload_purged: purged,
  };
}

/** The end of a request carries the request's texts. */
function shownPayload(
  { trust, type }: EventRow,
  payload: unknown,
  reader: EnvelopeOptions['reader'],
): unknown {
  if (reader === null || trust !== 'service' || type !== 'request.resolved') return payload;
  return withoutForeignNames(payload as RequestTexts, reader);
}
