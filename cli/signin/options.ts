import type { OptionSpec } from '../command.ts';

/** What every way of signing in takes. */
export const signInOptions: readonly OptionSpec[] = [
  {
    flag: 'gateway',
    value: 'URL',
    summary: 'Address of the gateway; that of the current profile when left out',
  },
  { flag: 'email', value: 'EMAIL', summary: 'Your address, which the link is mailed to' },
  { flag: 'name', value: 'PROFILE', summary: 'Name of the profile (the slug of the project)' },
  { flag: 'resend', summary: 'Send another mail though a sign-in is under way' },
  {
    flag: 'insecure',
    summary: 'Allow http:// to another machine: the key crosses the network in clear',
  },
];
