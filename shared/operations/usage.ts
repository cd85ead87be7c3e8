import * as z from 'zod';
import { isoTime } from '../lib/clock.ts';
import {
  DISK_KEYS_MAX,
  DISK_MAX_BYTES,
  EMAILS_PER_DAY,
  EMAILS_PER_MONTH,
  TRANSFER_MONTH_MAX_BYTES,
} from '../lib/limits.ts';
import { defineOperation } from '../kernel/operation.ts';
import { INGRESS_LIMIT_KINDS, NO_INGRESS_LIMITS } from '../rules/inbox/ingress-limit.ts';
import type { ReadContext } from '../kernel/context.ts';
import { limitedNow } from './source/limited.ts';
import { usedBytes } from '../rules/disk/disk-quota.ts';
import { monthEnd, monthOf } from '../rules/mail/month.ts';
import { sendBlocked, sendUse } from './email/quota.ts';

/** So many stand for more. */
const SET_ASIDE_MAX = 1000;

/** What sources store and send. A limit of null means that there is none. */
const eventUse = z.object({
  stored_bytes: z
    .int()
    .describe('Payloads, headers and attachments of events, and 2 KB each, until their purge.'),
  limit_bytes: z.int().nullable().describe('What the project may store; null means no limit.'),
  source_limits: z
    .object({
      stored_bytes: z.int().nullable().describe('What a source may store.'),
      events_per_minute: z.int().nullable().describe('How many events it may send in a minute.'),
      bytes_per_10_minutes: z.int().nullable().describe('How much it may send in ten minutes.'),
    })
    .describe('The limits of each source; null means none.'),
  sources: z
    .array(
      z.object({
        name: z.string().describe("The source's name."),
        stored_bytes: z.int().describe('What its events count.'),
        events_this_minute: z.int().describe('Events of the current minute.'),
        bytes_these_10_minutes: z.int().describe('Stored in the current ten minutes.'),
        limited: z
          .enum(INGRESS_LIMIT_KINDS)
          .nullable()
          .describe('The limit that the source has reached, or null.'),
      }),
    )
    .describe('Each source with what it stores and sends.'),
  set_aside: z
    .int()
    .describe('Mails kept as dead events: each has the Message-ID of another mail. Up to 1,000.'),
});

async function eventsUsed({ store, server, now }: ReadContext): Promise<z.input<typeof eventUse>> {
  const limits = server.ingress ?? NO_INGRESS_LIMITS;
  const sources = [];
  for (const { id, name } of await store.sources.list()) {
    const { use, limited } = await limitedNow({ store, server, now }, id);
    sources.push({
      name,
      stored_bytes: use.storedBytes,
      events_this_minute: use.minuteEvents,
      bytes_these_10_minutes: use.tenMinutesBytes,
      limited: limited?.kind ?? null,
    });
  }
  return {
    stored_bytes: (await store.sourceUse.ofProject()).storedBytes,
    limit_bytes: limits.projectBytes || null,
    source_limits: {
      stored_bytes: limits.sourceBytes || null,
      events_per_minute: limits.eventsPerMinute || null,
      bytes_per_10_minutes: limits.bytesPerTenMinutes || null,
    },
    sources,
    set_aside: await store.mailCopies.setAside(SET_ASIDE_MAX),
  };
}

export const usage = defineOperation({
  name: 'usage',
  summary: "Show the project's usage and limits.",
  description:
    "Covers disk bytes, keys, this calendar month's link downloads (UTC), messages requested today and this month, what sources store and send, and the log kept for replicas.",
  scope: 'any',
  input: z.strictObject({}),
  output: z.object({
    disk: z
      .object({
        used_bytes: z.int().describe('All together.'),
        limit_bytes: z.int().describe('What the project may store.'),
        key_bytes: z.int().describe('Of keys and state.'),
        file_bytes: z.int().describe('Of files.'),
        upload_bytes: z.int().describe('Reserved by open uploads.'),
      })
      .describe('Stored bytes.'),
    keys: z
      .object({
        used: z.int().describe('How many there are.'),
        limit: z.int().describe('How many there may be.'),
      })
      .describe('Keys of the key-value store.'),
    transfer: z
      .object({
        month: z.string().describe('`2026-01`.'),
        used_bytes: z.int().describe('Downloaded this month.'),
        limit_bytes: z.int().describe('What may be downloaded in a month.'),
        resets_at: z.string().describe('When the month ends.'),
      })
      .describe('Downloads.'),
    emails: z
      .object({
        today: z.int().describe('Sent today.'),
        day_limit: z.int().describe('What may be sent in a day.'),
        this_month: z.int().describe('Sent this month.'),
        month_limit: z.int().describe('What may be sent in a month.'),
        blocked: z.string().nullable().describe('Why sending is blocked, or null.'),
      })
      .describe('Mails sent.'),
    events: eventUse.describe('What sources store and send.'),
    replica_log: z
      .object({
        stored_bytes: z.int().describe('What it takes on the disk of the server.'),
        limit_bytes: z
          .int()
          .describe('What it may take; its newest part, 16 MB or so, may exceed that.'),
      })
      .describe("The log kept for members' replicas that were away; in no quota."),
  }),
  errors: [],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/usage' },
  mcp: false,
  cli: { usage: 'usage', examples: ['usage'] },
  example: {},
}).read(async (context) => {
  const { store, now, unspentTransfer } = context;
  const use = await store.disk.use();
  const month = monthOf(now);
  const emails = await sendUse(store, now);
  const log = context.replicaLog();
  return {
    disk: {
      used_bytes: usedBytes(use),
      limit_bytes: DISK_MAX_BYTES,
      key_bytes: use.keyBytes,
      file_bytes: use.fileBytes,
      upload_bytes: use.uploadBytes,
    },
    keys: { used: use.keys, limit: DISK_KEYS_MAX },
    transfer: {
      month,
      used_bytes: (await store.disk.transferred(month)) - unspentTransfer(month),
      limit_bytes: TRANSFER_MONTH_MAX_BYTES,
      resets_at: isoTime(monthEnd(now)),
    },
    emails: {
      today: emails.today,
      day_limit: EMAILS_PER_DAY,
      this_month: emails.thisMonth,
      month_limit: EMAILS_PER_MONTH,
      blocked: (await sendBlocked(store))?.reason ?? null,
    },
    events: await eventsUsed(context),
    replica_log: { stored_bytes: log.storedBytes, limit_bytes: log.limitBytes },
  };
});
