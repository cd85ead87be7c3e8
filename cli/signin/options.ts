import type { OptionSpec } from '../command.ts';

/** The options of every way to sign in. */
export const signInOptions: readonly OptionSpec[] = [
  {
    flag: 'gateway',
    value: 'URL',
    summary: "The gateway's address (default: the current profile's)",
  },
  {
    flag: 'email',
    value: 'EMAIL',
    summary: 'Your email address; the gateway mails the link there',
  },
  { flag: 'name', value: 'PROFILE', summary: "The profile's name (default: the project's slug)" },
  { flag: 'resend', summary: 'Make a new link even if a sign-in is in progress' },
  {
    flag: 'insecure',
    summary: 'Allow http:// to another machine: the key crosses the network unencrypted',
  },
];
