import type { ArgumentSpec, CommandSpec } from '../command.ts';
import { WEB_PAGES } from './specs-names.ts';

const letterArgument: ArgumentSpec = {
  name: 'id',
  required: false,
  summary: 'Which letter, by its id; the newest when left out',
  choices: ['latest'],
};

/** Commands about the daemon of this machine. */
export const daemonCommands: readonly CommandSpec[] = [
  {
    words: ['up'],
    summary: 'Start the daemon of this machine, or say where it runs.',
    description:
      'Returns once it answers. The first start makes a project and a key; with the profile of a gateway it keeps a copy of the project there. A daemon of another release or project is replaced. Mail to people goes out by SVC_SMTP_URL and SVC_MAIL_FROM, and into the outbox of this machine without them; SVC_TELEGRAM_TOKEN is for a bot of yours. They are read at the start.',
    args: [],
    options: [
      {
        flag: 'port',
        value: 'N',
        summary: 'Port on 127.0.0.1, remembered; 0 takes a free one (4780)',
      },
      {
        flag: 'owner',
        value: 'EMAIL',
        summary: 'Address of the person who decides; remembered',
      },
      { flag: 'foreground', summary: 'Stay in the foreground and log to standard error' },
    ],
    examples: ['up', 'up --owner ana@example.com', 'up --port 0 --json', 'up --foreground'],
    load: () => import('./up.ts'),
  },
  {
    words: ['down'],
    summary: 'End the daemon and wait until it is gone.',
    description:
      'Waiting calls are answered, what is under way is finished, and the stores are closed.',
    args: [],
    options: [],
    examples: ['down'],
    load: () => import('./down.ts'),
  },
  {
    words: ['status'],
    summary: 'Show whether the daemon runs, where, and how people are asked.',
    description:
      'Over a gateway also how the copy of the project stands, and where reads come from. Exit code 0 when it runs, 3 when it does not, 7 when it runs but does not answer.',
    args: [],
    options: [],
    examples: ['status', 'status --json | jq -r .base_url', 'status --json | jq .replica'],
    load: () => import('./status.ts'),
  },
  {
    words: ['logs'],
    summary: 'Show the log of the daemon.',
    description: 'Readable on a terminal, the JSON lines as they are elsewhere.',
    args: [],
    options: [
      { flag: 'follow', short: 'f', summary: 'Go on with new lines until Ctrl-C' },
      { flag: 'lines', short: 'n', value: 'N', summary: 'How many of the last lines (50)' },
    ],
    examples: ['logs', 'logs -f', "logs -n 500 | jq 'select(.level >= 50)'"],
    load: () => import('./logs.ts'),
  },
  {
    words: ['doctor'],
    summary: 'Check this machine, the daemon and its files, and say how to repair them.',
    description:
      'While the daemon is down it also checks the databases. Exit code 1 when something is broken.',
    args: [],
    options: [],
    examples: ['doctor', 'doctor --json'],
    load: () => import('./doctor.ts'),
  },
  {
    words: ['open'],
    summary: 'Open the web inbox in the browser, as the key of this machine.',
    description:
      'What your agents ask, and what happens in the project. A key sees what its scopes allow and decides nothing: to decide, sign in there as the owner. The link works for 60 seconds, once. Without a desktop it is printed.',
    args: [
      {
        name: 'page',
        required: false,
        summary: 'Which page, or an id such as evt_… and req_…; the first page when left out',
        choices: WEB_PAGES,
      },
    ],
    options: [{ flag: 'print', summary: 'Print the link and open nothing' }],
    examples: ['open', 'open requests', 'open --print'],
    load: () => import('./open.ts'),
  },
  {
    words: ['outbox', 'list'],
    summary: 'List mail that was kept here instead of being sent, newest first.',
    description:
      'While the daemon runs without SVC_SMTP_URL, its mail is kept here: letters to people with questions, approvals and addresses to confirm, and what svc email send sends. The oldest beyond 1,000 are removed.',
    args: [],
    options: [{ flag: 'limit', value: 'N', summary: 'How many at most (20)' }],
    examples: ['outbox list', "outbox list --json | jq -r '.items[].id'"],
    load: () => import('./outbox-list.ts'),
  },
  {
    words: ['outbox', 'show'],
    summary: 'Show a letter or a mail as its reader would see it.',
    description:
      'In a letter to a person, lines marked with ">" were written by an agent. Exit code 3 when there is none.',
    args: [letterArgument],
    options: [],
    examples: ['outbox show', 'outbox show latest --json | jq -r .text'],
    load: () => import('./outbox-show.ts'),
  },
  {
    words: ['outbox', 'open'],
    summary: 'Open the page behind the link of a letter to a person.',
    description:
      'Opening the page decides nothing, and no link is opened that an agent wrote. Without a desktop the link is printed. Exit code 3 when there is no such letter.',
    args: [letterArgument],
    options: [{ flag: 'print', summary: 'Print the link and open nothing' }],
    examples: ['outbox open', 'outbox open latest --print'],
    load: () => import('./outbox-open.ts'),
  },
];
