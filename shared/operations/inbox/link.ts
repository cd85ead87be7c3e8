import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { eventLinks } from '../../kernel/links.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isoTime } from '../../lib/clock.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { PAYLOAD_LINK_SECONDS } from '../../lib/limits.ts';
import { eventId } from '../fields.ts';

export const inboxLink = defineOperation({
  name: 'inbox_link',
  summary: "Get a link to a webhook's body, byte for byte as it came.",
  description:
    'The link works without a key for an hour, and takes no lease. For senders whose text or numbers a parsed payload changes, and to check a signature again. Mails have no such body: their parts are in the event.',
  scope: 'inbox:write',
  input: z.strictObject({ event_id: eventId }),
  output: named(
    'EventLink',
    z
      .object({
        body_url: z
          .string()
          .describe('The bytes as they came; anyone with the link can read them.'),
        url_expires_at: z.string().describe('When the link ends.'),
        size_bytes: z.int().describe('How long the body is.'),
      })
      .describe('A link to the body of a webhook.'),
  ),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/inbox/events/{event_id}/link' },
  mcp: false,
  cli: {
    usage: 'inbox link <event_id>',
    examples: ['inbox link evt_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async ({ store, project, caller, server, vault, now }, { event_id }) => {
  const row = await store.events.findWhole(event_id, now);
  if (!row) throw notFound(`event ${event_id}`);
  const { bodyUrl } = eventLinks({ vault, server }, project.id, row, { holder: caller.keyId, now });
  if (bodyUrl === null) {
    const why =
      row.channel === 'webhook'
        ? 'The payload was deleted, 30 days after it arrived.'
        : 'Only webhooks keep the bytes as they came: the parts of this event are in `svc inbox get`.';
    throw new ServiceError('NOT_FOUND', { hint: why });
  }
  return {
    body_url: bodyUrl,
    url_expires_at: isoTime(now + PAYLOAD_LINK_SECONDS * 1000),
    size_bytes: row.size_bytes,
  };
});
