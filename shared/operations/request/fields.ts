import * as z from 'zod';
import {
  APPROVALS_MAX,
  BIND_MAX_BYTES,
  CALLBACK_URL_MAX_CHARS,
  CHANNELS_MAX,
  OPTION_MAX_CHARS,
  OPTIONS_MAX,
  REQUEST_DEFAULT_MS,
  REQUEST_MAX_MS,
  REQUEST_MIN_MS,
  STATE_REF_MAX_CHARS,
  WAIT_DEFAULT_SECONDS,
  WAIT_MAX_SECONDS,
} from '../../lib/limits.ts';
import { spanMs } from '../../lib/clock.ts';
import { invalid } from '../../lib/errors.ts';
import { LINES } from '../../lib/text.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import { label } from '../fields.ts';

// Fields that all asking operations share (spec section 4.8).

export const requestId = z
  .string()
  .regex(/^req_[0-9a-z]{26}$/, 'Expected a request id such as `req_01j…`.')
  .describe('The request, `req_…`.');

const listedChannel = z
  .string()
  .regex(/^chn_[0-9a-z]{26}$/, 'Expected a channel id such as `chn_01j…`.');

export const channelId = listedChannel.describe('The channel, `chn_…`.');

function linesOf(maxChars: number) {
  return z
    .string()
    .max(maxChars)
    .regex(LINES, 'Control characters are not allowed.')
    .refine((text) => text.isWellFormed(), "The text isn't valid Unicode.");
}

/** Text that may have several lines. */
export function prose(maxChars: number) {
  return linesOf(maxChars).min(1);
}

/** Optional text that may have several lines; an empty text counts as absent. */
export function optionalProse(maxChars: number) {
  return linesOf(maxChars)
    .transform((text) => (text === '' ? undefined : text))
    .optional();
}

export const waitSeconds = z
  .int()
  .min(0)
  .max(WAIT_MAX_SECONDS)
  .default(WAIT_DEFAULT_SECONDS)
  .describe('How long to wait.');

/** `30m`, `24h` or `7d`, parsed to milliseconds. */
const span = z
  .string()
  .regex(/^\d{1,5}[mhd]$/, 'Expected a number and a unit, such as `30m`, `24h` or `7d`.')
  .transform((text, context) => {
    const ms = spanMs(text) ?? 0;
    if (ms >= REQUEST_MIN_MS && ms <= REQUEST_MAX_MS) return ms;
    context.issues.push({ code: 'custom', input: text, message: 'Expected 1m to 7d.' });
    return z.NEVER;
  });

const expiresIn = span.optional().describe('From 1m to 7d (default 24h).');

const remind = span.optional().describe('Ask again after this, before it expires.');

const then = z.array(listedChannel).max(CHANNELS_MAX).optional().describe('Channels to ask later.');

export const options = z
  .array(label(OPTION_MAX_CHARS))
  .max(OPTIONS_MAX)
  .refine((given) => new Set(given).size === given.length, 'Options must be unique.')
  .meta({ uniqueItems: true })
  .optional();

const approvers = z
  .array(listedChannel)
  .min(1)
  .max(CHANNELS_MAX)
  .optional()
  .describe('Channels to ask (default: all).');

export const approvals = z
  .int()
  .min(1)
  .max(APPROVALS_MAX)
  .default(1)
  .describe('How many must approve.');

const stateRef = prose(STATE_REF_MAX_CHARS)
  .optional()
  .describe('Returned unchanged with the answer.');

const callbackUrl = z
  .string()
  .max(CALLBACK_URL_MAX_CHARS)
  .optional()
  .describe('An https address for the signed request.resolved event.');

/** Whom to ask, for how long, and where the answer goes; approvals and questions share these. */
export const askingFields = {
  wait_seconds: waitSeconds,
  expires_in: expiresIn,
  approvers,
  remind,
  // oxlint-disable-next-line unicorn/no-thenable -- a list that nobody awaits; the flag reads `--then`
  then,
  state_ref: stateRef,
  callback_url: callbackUrl,
};

/** These fields as a draft stores them. VALIDATION_FAILED if the reminder would come at the request's end or later. */
export function addresseesOf({
  expires_in: expiresInMs,
  approvers: asked,
  remind: remindMs,
  then: next,
  state_ref,
  callback_url,
}: {
  readonly expires_in?: number | undefined;
  readonly approvers?: readonly string[] | undefined;
  readonly remind?: number | undefined;
  readonly then?: readonly string[] | undefined;
  readonly state_ref?: string | undefined;
  readonly callback_url?: string | undefined;
}) {
  if (remindMs !== undefined && remindMs >= (expiresInMs ?? REQUEST_DEFAULT_MS)) {
    const message = 'Must be shorter than `expires_in`, which is 24h by default.';
    throw invalid({ path: 'remind', message });
  }
  return { expiresInMs, approvers: asked, remindMs, next, state_ref, callback_url };
}

/** What an approval binds, as canonical JSON. */
export const boundValues = z
  .unknown()
  .transform((value, context) => {
    if (value === undefined) return undefined;
    const text = canonicalJson(value);
    if (Buffer.byteLength(text) <= BIND_MAX_BYTES) return text;
    context.issues.push({ code: 'custom', input: value, message: 'At most 4 KB serialized.' });
    return z.NEVER;
  })
  .optional()
  .describe('The exact values to act on, up to 4 KB: people see them.');
