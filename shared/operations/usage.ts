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
import { usedBytes } from '../rules/disk-quota.ts';
import { monthEnd, monthOf } from '../rules/month.ts';
import { sendBlocked, sendUse } from './email/quota.ts';

export const usage = defineOperation({
  name: 'usage',
  summary: "Show the project's usage and limits.",
  description:
    "Covers disk bytes, keys, this calendar month's link downloads (UTC), and messages requested today and this month.",
  scope: 'any',
  input: z.strictObject({}),
  output: z.object({
    disk: z.object({
      used_bytes: z.int(),
      limit_bytes: z.int(),
      key_bytes: z.int(),
      file_bytes: z.int(),
      upload_bytes: z.int(),
    }),
    keys: z.object({ used: z.int(), limit: z.int() }),
    transfer: z.object({
      month: z.string(),
      used_bytes: z.int(),
      limit_bytes: z.int(),
      resets_at: z.string(),
    }),
    emails: z.object({
      today: z.int(),
      day_limit: z.int(),
      this_month: z.int(),
      month_limit: z.int(),
      blocked: z.string().nullable().describe('Why sending is blocked, or null.'),
    }),
  }),
  errors: [],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/usage' },
  mcp: false,
  cli: { usage: 'usage', examples: ['usage'] },
  example: {},
}).read(async ({ store, now, unspentTransfer }) => {
  const use = await store.disk.use();
  const month = monthOf(now);
  const emails = await sendUse(store, now);
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
  };
});
