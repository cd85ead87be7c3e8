import * as z from 'zod';
import type { Caller } from './context.ts';
import { withoutForeignNames, type RequestTexts } from './disk-limit.ts';
import type { EventLinks } from './links.ts';
import { named } from './schema-names.ts';
import { mailParts } from '../rules/mail-parts.ts';
import type { EventRow } from '../store/events.ts';
import { PAYLOAD_INLINE_MAX_BYTES } from '../lib/limits.ts';
import { effective } from '../rules/event-state.ts';
import { wakesAt, type Condition } from '../rules/park.ts';
import { decodePayload } from '../rules/payload.ts';
import { isoTime } from '../lib/clock.ts';
import { queueRow } from './queue-row.ts';

const attachment = named(
  'Attachment',
  z.object({
    name: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    content_id: z.string().nullable(),
    inline: z.boolean(),
    sha256: z.string(),
    /** A link to the file, if the event is shown in full. */
    url: z.string().optional(),
    url_expires_at: z.string().optional(),
  }),
);

const blockedAttachment = named(
  'BlockedAttachment',
  z.object({
    name: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    reason: z.enum(['executable', 'encrypted_archive', 'too_large', 'too_many']),
  }),
);

export const EVENT_STATUSES = ['pending', 'claimed', 'done', 'failed', 'dead', 'waiting'] as const;

/** Only for parked events. */
const waitingFields = {
  waiting_for: z
    .array(z.object({ id: z.string(), status: z.string(), expires_at: z.string() }))
    .optional(),
  parked_at: z.string().optional(),
  wakes_at: z.string().optional(),
};

/** An event as callers see it (spec section 2.1), plus `retry_at` and `suspected_replay`. */
export const eventSchema = named(
  'Event',
  z.object({
    id: z.string(),
    project: z.string(),
    source: z.string(),
    channel: z.string(),
    type: z.string(),
    received_at: z.string(),
    verified: z.boolean(),
    trust: z.enum(['external_untrusted', 'service']),
    suspected_replay: z.boolean(),
    reply_to: z.string().nullable(),
    headers: z.record(z.string(), z.string()).optional(),
    payload: z.unknown(),
    payload_url: z.string().nullable(),
    payload_truncated: z.boolean(),
    payload_purged: z.boolean(),
    /** Only for mails. */
    thread_id: z.string().nullable().optional(),
    html_url: z.string().nullable().optional(),
    attachments: z.array(attachment).optional(),
    attachments_blocked: z.array(blockedAttachment).optional(),
    status: z.enum(EVENT_STATUSES),
    attempts: z.int(),
    retry_at: z.string().nullable(),
    ...waitingFields,
  }),
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
    trust: row.trust === 'service' ? 'service' : 'external_untrusted',
    suspected_replay: row.suspected_replay === 1,
    reply_to: row.reply_to,
    ...(row.channel === 'webhook' && {
      headers: JSON.parse(row.headers) as Record<string, string>,
    }),
    ...payloadFields(row, options),
    ...(row.channel === 'email' && mailFields(row, options.payload)),
    status: queue.status,
    attempts: queue.attempts,
    retry_at: queue.status === 'failed' && queue.due_at !== null ? isoTime(queue.due_at) : null,
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

function payloadFields(
  row: EventRow,
  { payload: wanted, reader }: EnvelopeOptions,
): Pick<Envelope, 'payload' | 'payload_url' | 'payload_truncated' | 'payload_purged'> {
  const purged = row.kind === null;
  const truncated = !purged && !wanted.whole && row.size_bytes > PAYLOAD_INLINE_MAX_BYTES;
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
