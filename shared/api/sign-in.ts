import * as z from 'zod';
import { label } from '../operations/fields.ts';
import { channelView } from '../operations/channel/view.ts';
import { isMailAddress } from '../rules/mail-address.ts';
import { SLUG, SLUG_MAX_CHARS } from '../rules/slug.ts';
import { FULL_SCOPES, SCOPES } from '../lib/scopes.ts';

// Inputs and answers of the sign-in routes. They need no key.

const NAME_MAX_CHARS = 100;

const name = label(NAME_MAX_CHARS).refine(
  (text) => text === '' || text.trim() !== '',
  'There is nothing but blanks.',
);
const loginId = z.string().min(1).max(100).describe('The secret that auth/start gave.');
const keyName = name.default('sign-in').describe('What the key is for.');

export const startInput = z.strictObject({
  email: z
    .string()
    .refine(isMailAddress, 'Expected a plain address such as `ana@example.com`.')
    .describe('Where the link to confirm is sent.'),
  client: z
    .strictObject({
      name: name.optional(),
      version: name.optional(),
      host: name.optional(),
    })
    .optional()
    .describe('The program and its machine, shown to the person who confirms.'),
});

export const startAnswer = z.strictObject({
  login_id: z.string().describe('A secret: keep it to yourself.'),
  user_code: z.string().describe('Show it: the person types it on the page behind the link.'),
  email_masked: z.string(),
  expires_in: z.int().describe('Seconds.'),
  expires_at: z.string(),
  interval: z.int().describe('Seconds to let pass between polls.'),
});

export const pollInput = z.strictObject({ login_id: loginId });

export const pollAnswer = z.strictObject({
  status: z.literal('confirmed'),
  email_masked: z.string(),
  expires_at: z.string().describe('Use the sign-in before this time.'),
  projects: z
    .array(z.strictObject({ id: z.string(), slug: z.string(), name: z.string() }))
    .describe('Of this account.'),
});

export const projectInput = z.strictObject({
  login_id: loginId,
  name: name.describe('What people read.'),
  slug: z
    .string()
    .max(SLUG_MAX_CHARS)
    .regex(SLUG, 'Expected lower-case letters and digits, with single hyphens between them.')
    .optional()
    .describe('Made of the name when omitted.'),
  key_name: keyName,
});

export const keyInput = z.strictObject({
  login_id: loginId,
  project_id: z
    .string()
    .regex(/^prj_[0-9a-z]{16}$/, 'Expected a project id such as `prj_…`.')
    .describe('A project of this account.'),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .max(SCOPES.length)
    .default([...FULL_SCOPES])
    .describe(`What the key may do: ${SCOPES.join(', ')}; default: all.`),
  key_name: keyName,
});

const project = z.strictObject({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  created_at: z.string(),
});

export const keyAnswer = z.strictObject({
  project,
  key: z.strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    created_at: z.string(),
  }),
  api_key: z.string().describe('The secret, shown only once.'),
  urls: z.strictObject({ api: z.string(), mcp: z.string(), hooks: z.string() }),
});

export const projectAnswer = keyAnswer.extend({
  channel: channelView.describe("The owner's, active."),
});
