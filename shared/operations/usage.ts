import * as z from 'zod';
import { isoTime } from '../clock.ts';
import { DISK_KEYS_MAX, DISK_MAX_BYTES, TRANSFER_MONTH_MAX_BYTES } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { usedBytes } from '../rules/disk-quota.ts';
import { monthEnd, monthOf } from '../rules/month.ts';

export const usage = defineOperation({
  name: 'usage',
  summary: 'What the project uses of its limits.',
  description: 'Bytes on the disk, keys, and the transfer of the calendar month (UTC).',
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
  };
});
