import type { CommandSpec, OptionSpec } from '../command.ts';

/** What every way of signing in takes. */
const signInOptions: readonly OptionSpec[] = [
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

/** Commands about gateways, and the projects this machine has keys of. */
export const signInCommands: readonly CommandSpec[] = [
  {
    words: ['login'],
    summary: "Sign in to a team's gateway by a mailed link, or with a key.",
    description:
      'Asks on a terminal for what is missing, and never elsewhere. Compare the code that is shown with the one behind the link. Interrupted with Ctrl-C, the same command goes on where it was. The key is stored as a profile of this machine, which becomes the current one. With --json the code is a line of JSON on standard error: user_code, email_masked, expires_at. To a project of somebody else an owner lets you in with a key, made by: svc key create --name bob --scopes inbox:read,inbox:write,approvals,disk,ledger:read. You store it by --with-key.',
    args: [],
    options: [
      ...signInOptions.slice(0, 2),
      { flag: 'project', value: 'SLUG', summary: 'The project to join, by its slug or id' },
      { flag: 'create', value: 'NAME', summary: 'Make a new project of this name' },
      ...signInOptions.slice(2),
      {
        flag: 'with-key',
        value: 'SOURCE',
        summary: 'Store a key that an owner gave you: @FILE or - for standard input; sends no mail',
      },
    ],
    examples: [
      'login --gateway https://svc.example.com',
      'login --gateway https://svc.example.com --email ana@example.com --project shop',
      'login --gateway https://svc.example.com --email ana@example.com --create "Web shop" --json',
      'login --gateway https://svc.example.com --with-key -',
      'login --gateway https://svc.example.com --with-key @bob.key',
    ],
    load: () => import('./login.ts'),
  },
  {
    words: ['logout'],
    summary: 'Revoke the key of a profile, and remove the profile and the copy.',
    description:
      'The copy of the project goes with the last profile that has it; where a daemon still runs for it, with the next svc up. Where the gateway cannot be reached, the profile is removed all the same, and the key goes on working. Without a name it is the current profile.',
    args: [{ name: 'profile', required: false, summary: 'Which profile', stored: 'profiles' }],
    options: [{ flag: 'keep-key', summary: 'Leave the key as it is at the gateway' }],
    examples: ['logout', 'logout shop', 'logout shop --keep-key'],
    load: () => import('./logout.ts'),
  },
  {
    words: ['project', 'list'],
    summary: 'List the projects this machine has a key of.',
    description:
      'Each under the name of its profile; * marks the current one. Exit code 3 when there is none.',
    args: [],
    options: [{ flag: 'names', summary: 'Print the names of the profiles alone, one a line' }],
    examples: ['project list', "project list --json | jq -r '.items[].project.id'"],
    load: () => import('./project-list.ts'),
  },
  {
    words: ['project', 'use'],
    summary: 'Make a profile the current one.',
    description:
      'Commands use its key from then on, and svc up starts the daemon for its project. For a single command there is --profile.',
    args: [{ name: 'name', required: true, summary: 'Which profile', stored: 'profiles' }],
    options: [],
    examples: ['project use shop', 'project use default'],
    load: () => import('./project-use.ts'),
  },
  {
    words: ['project', 'create'],
    summary: 'Make a new project at a gateway.',
    description:
      'You confirm it by a mailed link, as a sign-in. This machine gets a key of it, and a profile that becomes the current one.',
    args: [{ name: 'name', required: true, summary: 'What people read' }],
    options: signInOptions,
    examples: [
      'project create "Web shop"',
      'project create "Web shop" --gateway https://svc.example.com --email ana@example.com',
    ],
    load: () => import('./project-create.ts'),
  },
];
