/** What somebody can make, and what then gives access on its own. */
export const MADE_KINDS = [
  'key',
  'route',
  'invitation',
  'member',
  'channel',
  'source',
  'request',
  'email',
  'file_link',
  'upload',
  'browser',
  'callback_secret',
] as const;

export type MadeKind = (typeof MADE_KINDS)[number];
