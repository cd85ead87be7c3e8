import * as z from 'zod';
import { label } from '../operations/fields.ts';
import { channelView } from '../operations/channel/view.ts';
import { mailState, serverUrls } from '../operations/whoami.ts';
import { isMailAddress } from '../rules/mail/mail-address.ts';
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

const emailMasked = z.string().describe('The address, with most letters hidden.');

const projectFields = {
  id: z.string().describe('`prj_…`.'),
  slug: z.string().describe('Its name in addresses.'),
  name: z.string().describe('What people call it.'),
};

export const startInput = z.strictObject({
  email: z
    .string()
    .refine(isMailAddress, 'Expected a plain address such as `ana@example.com`.')
    .describe('Where the link to confirm is sent.'),
  client: z
    .strictObject({
      name: name.optional().describe('The program.'),
      version: name.optional().describe('Its version.'),
      host: name.optional().describe('The machine.'),
    })
    .optional()
    .describe('The program and its machine, shown to the person who confirms.'),
});

export const startAnswer = z.strictObject({
  login_id: z.string().describe('A secret: keep it to yourself.'),
  user_code: z.string().describe('Show it: the person types it on the page behind the link.'),
  email_masked: emailMasked,
  expires_in: z.int().describe('Seconds until the link ends.'),
  expires_at: z.string().describe('When the link ends.'),
  interval: z.int().describe('Seconds to let pass between polls.'),
  mail: mailState,
});

export const pollInput = z.strictObject({ login_id: loginId });

export const pollAnswer = z.strictObject({
  status: z.literal('confirmed').describe('Until then the call answers LOGIN_NOT_VERIFIED.'),
  email_masked: emailMasked,
  expires_at: z.string().describe('Use the sign-in before this time.'),
  projects: z.array(z.strictObject(projectFields)).describe('Of this account.'),
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

const project = z
  .strictObject({ ...projectFields, created_at: z.string().describe('When it was created.') })
  .describe('The project of the key.');

export const keyAnswer = z.strictObject({
  project,
  key: z
    .strictObject({
      id: z.string().describe('`key_…`.'),
      name: z.string().describe('What people call it.'),
      scopes: z.array(z.enum(SCOPES)).describe('What it may do.'),
      created_at: z.string().describe('When it was created.'),
    })
    .describe('The new key.'),
  api_key: z.string().describe('The secret, shown only once.'),
  urls: z.strictObject(serverUrls).describe('Addresses of this server.'),
});

export const projectAnswer = keyAnswer.extend({
  channel: channelView.describe("The owner's, active."),
});
