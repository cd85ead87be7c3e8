import type { CommandSpec } from '../command.ts';

/** Commands about the daemon of this machine. */
export const daemonCommands: readonly CommandSpec[] = [
  {
    words: ['up'],
    summary: 'Start the daemon of this machine, or say where it runs.',
    description:
      'Returns once it answers. The first start makes a project and a key. A daemon of another release is replaced.',
    args: [],
    options: [
      { flag: 'port', value: 'N', summary: 'Port on 127.0.0.1; 0 takes a free one (4780)' },
      { flag: 'foreground', summary: 'Stay in the foreground and log to standard error' },
    ],
    examples: ['up', 'up --port 0 --json', 'up --foreground'],
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
    summary: 'Show whether the daemon runs, and where.',
    description:
      'Exit code 0 when it runs, 3 when it does not, 7 when it runs but does not answer.',
    args: [],
    options: [],
    examples: ['status', 'status --json | jq -r .base_url'],
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
];
