import { HEADER_SIGNERS } from '../../shared/senders/registry.ts';
import type { OptionSpec } from '../command.ts';

// Flags shared by several commands about events and webhooks.

export const SOURCE: OptionSpec = {
  flag: 'source',
  value: 'NAME',
  summary: 'Only events of this source.',
  stored: 'sources',
};
export const TYPE: OptionSpec = {
  flag: 'type',
  value: 'TYPE',
  summary: 'Only this event type, or a prefix ending `*` such as `invoice.*`.',
};
export const SCHEME: OptionSpec = {
  flag: 'scheme',
  value: 'SCHEME',
  summary: 'How to sign the body.',
  choices: HEADER_SIGNERS,
};
export const SECRET: OptionSpec = {
  flag: 'secret',
  value: 'SECRET',
  summary:
    'The secret: @file, - for standard input, or the text itself. Other users of this machine can read arguments; SVC_WEBHOOK_SECRET is safer.',
};
export const BODY: OptionSpec = {
  flag: 'body',
  value: 'BODY',
  summary: 'The body: @file, - for standard input (default), or the text itself.',
};
export const SIGNATURE_HEADER: OptionSpec = {
  flag: 'signature-header',
  value: 'NAME',
  summary: "Only for hmac_sha256: the signature's header (default x-signature).",
};
