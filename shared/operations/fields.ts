import * as z from 'zod';
import { parseIso } from '../lib/clock.ts';
import { ServiceError } from '../lib/errors.ts';
import { stringifyExact } from '../lib/json/exact-json.ts';
import { LIST_DEFAULT, LIST_MAX } from '../lib/limits.ts';
import { isPattern } from '../rules/inbox/event-type.ts';
import { SOURCE_NAME } from '../rules/inbox/source-name.ts';
import { ONE_LINE } from '../lib/text.ts';

// Fields that several operations share.

/** One line of text without control characters. */
export function label(maxChars: number) {
  return z
    .string()
    .min(1)
    .max(maxChars)
    .regex(ONE_LINE, 'Control characters are not allowed.')
    .refine((text) => text.isWellFormed(), "The text isn't valid Unicode.");
}

export const eventId = z
  .string()
  .regex(/^evt_[0-9a-z]{26}$/, 'Expected an event id such as `evt_01j…`.')
  .describe('The event, `evt_…`.');

/** A filter for the mails of one thread. */
export const mailThread = z
  .string()
  .regex(/^thr_[0-9a-z]{26}$/, 'Expected a thread id such as `thr_01j…`.')
  .describe('Mails of this thread.');

/** Any JSON, as its text with numbers as written; refused above so many bytes, which `limit` says in words. */
export function jsonText(maxBytes: number, limit: string) {
  // z.json() would walk a huge value before the size check could refuse it.
  return z
    .unknown()
    .transform((value) => stringifyExact(value))
    .refine((text) => Buffer.byteLength(text) <= maxBytes, {
      error: `At most ${limit} serialized.`,
    })
    .optional();
}

export const leaseId = z.string().max(64).optional().describe('The lease_id of your claim.');

/** An ISO 8601 time with a zone, normalised to UTC with milliseconds so that string order is time order. */
export const isoInstant = z
  .string()
  .max(40)
  .transform((text, context) => {
    const ms = parseIso(text);
    if (ms !== null) return new Date(ms).toISOString();
    context.issues.push({
      code: 'custom',
      input: text,
      message: 'Expected an ISO 8601 time with a zone, such as `2026-01-02T03:04:05Z`.',
    });
    return z.NEVER;
  });

export const sourceName = label(63).describe('The name of a source.');

/** A source to filter by. Refuses names that no source can have, because they would never match. */
export const sourceFilter = sourceName.refine(
  (name) => SOURCE_NAME.test(name),
  'Not a valid source name: use a-z, 0-9, _ and -.',
);

export const typePattern = label(255)
  .refine(
    isPattern,
    'Use `*` only at the end: `invoice.*` matches types that start with `invoice.`.',
  )
  .describe('An event type, or a prefix: `invoice.*`.');

export const mine = z.boolean().optional().describe("Leave out answers to other keys' questions.");

export const listLimit = z
  .int()
  .min(1)
  .max(LIST_MAX)
  .default(LIST_DEFAULT)
  .describe('How many to return.');

export const listCursor = z
  .string()
  .max(2048)
  .optional()
  .describe('The next_cursor from the previous page.');

/** RATE_LIMITED with the time to wait, and why. */
export function tooSoon(waitMs: number, hint: string): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ServiceError('RATE_LIMITED', { hint, details: { retry_after: seconds } });
}
/** Where a list goes on. */
export const nextCursor = z
  .string()
  .nullable()
  .describe('Pass as `cursor` for the next page; null on the last.');

/** Of a list with one page. It's typed like other cursors, because generators of clients know no type that is always null. */
export function noCursor(why: string) {
  return z.string().nullable().describe(`Always null: ${why}.`);
}

/** Remarks on a filter that matches nothing, or might never. */
export const filterWarnings = z
  .array(z.string())
  .optional()
  .describe('Why the filter might never match.');
