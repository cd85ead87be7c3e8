import type { ArgumentSpec, CommandSpec } from '../command.ts';

const DATA_OPTIONS: CommandSpec['options'] = [
  { flag: 'data', value: 'FOLDER', summary: 'The data folder of the gateway (SVC_DATA)' },
  { flag: 'config', value: 'FILE', summary: 'File with settings (SVC_CONFIG)' },
];

const PROJECT_ARGUMENT: ArgumentSpec = {
  name: 'name',
  required: true,
  summary: 'Its slug, or its id',
};

/** Commands for whoever runs a gateway. */
export const gatewayCommands: readonly CommandSpec[] = [
  {
    words: ['gateway'],
    summary: 'Run a gateway: the hosted process that a team shares.',
    description:
      'Stays in the foreground, logs JSON lines to standard output, and ends cleanly on SIGTERM or Ctrl-C. Settings come from environment variables, and from a file of NAME=value lines; the environment wins. What is wrong with them is told all at once. Without settings it listens on 127.0.0.1:4780, for trying it out.',
    args: [],
    options: [{ flag: 'config', value: 'FILE', summary: 'File with settings (SVC_CONFIG)' }],
    examples: ['gateway', 'gateway --config /etc/svc/gateway.env'],
    load: () => import('./gateway.ts'),
  },
  {
    words: ['gateway', 'backup'],
    summary: 'Copy all data of a gateway to a new folder, also while it runs.',
    description:
      'Each project is as it stood at one moment, with everything that was answered before the backup began. Files in an S3 bucket are named, not copied. The master key is left out unless it is asked for: keep a copy of it somewhere else, since without it no stored secret can be opened again. The folder appears once all of it is on the disk.',
    args: [
      {
        name: 'dir',
        required: true,
        summary: 'The folder to make; must not be there',
        stored: 'paths',
      },
    ],
    options: [
      ...DATA_OPTIONS,
      { flag: 'include-key', summary: 'Put the master key into the backup as well' },
    ],
    examples: [
      'gateway backup /backup/2026-01-02',
      'gateway backup ./copy --data /var/lib/svc-gateway',
    ],
    load: () => import('./gateway-backup.ts'),
  },
  {
    words: ['gateway', 'restore'],
    summary: 'Put a backup into an empty data folder, after checking all of it.',
    description:
      'Checks every file against the digests of the backup, the structure of each database, its ledger up to the head it had, and that the master key opens its secrets. The key is looked for at SVC_MASTER_KEY_FILE, in the data folder as master.key, and in the backup. Replicas of the projects are copied afresh when their daemons call again.',
    args: [
      {
        name: 'dir',
        required: true,
        summary: 'The folder that `svc gateway backup` made',
        stored: 'paths',
      },
    ],
    options: DATA_OPTIONS,
    examples: ['gateway restore /backup/2026-01-02 --data /var/lib/svc-gateway'],
    load: () => import('./gateway-restore.ts'),
  },
  {
    words: ['gateway', 'rekey'],
    summary: 'Change the master key: seal every secret with another one.',
    description:
      'End the gateway first, or the daemon of local mode (`svc down`), and make a backup. Each secret is opened and sealed anew, and what finds people by their addresses is made anew, one transaction a database, after all of it was checked. Until the end both keys are there, the new one in the data folder too, and nothing starts on the data; when it is cut short, run it again. A key in the data folder (master.key) is replaced, and kept beside it under another name; a key that SVC_MASTER_KEY_FILE names stays, and the new one has to be named there before the next start. Backups and exports made before need the key of before. Links to payloads, mails and downloads end, which hold for an hour at most; sign-ins, sessions, links that decide or share, hooks and API keys go on. Not for databases on a server.',
    args: [],
    options: [
      {
        flag: 'new-key',
        value: 'FILE',
        summary: 'File of the new key; made where it is not there',
        stored: 'paths',
      },
      ...DATA_OPTIONS,
    ],
    examples: [
      'gateway rekey --new-key /etc/svc/master-2027.key',
      'gateway rekey --new-key ./new.key --data /var/lib/svc-gateway',
    ],
    load: () => import('./gateway-rekey.ts'),
  },
  {
    words: ['gateway', 'export'],
    summary: 'Copy one project to a new folder, to move it to another gateway.',
    description:
      'Works beside a running gateway or without one. The folder holds the database, all files, those of an S3 bucket too, and the owner; secrets stay sealed, so the other gateway must have the same master key. With --hold nothing can be written to the project from then on: callers are told to come again, what is being sent may end, and the copy has everything that was answered. It stays held until it is released. What replicas follow is not part of it: they copy the project afresh where it is imported.',
    args: [
      PROJECT_ARGUMENT,
      {
        name: 'dir',
        required: true,
        summary: 'The folder to make; must not be there',
        stored: 'paths',
      },
    ],
    options: [
      ...DATA_OPTIONS,
      { flag: 'hold', summary: 'Let nothing be written to the project from now on' },
    ],
    examples: ['gateway export shop /moves/shop --hold', 'gateway export shop ./shop'],
    load: () => import('./gateway-export.ts'),
  },
  {
    words: ['gateway', 'import'],
    summary: 'Take in a project that another gateway has exported, after checking all of it.',
    description:
      'Checks every file against the digests of the export, the structure of the database, its ledger up to the head it had, and that this gateway has the master key of its secrets. The project is active at once, also in a gateway that runs: its keys, hooks and links work here. An import that was cut short may be repeated. With --slug it gets another slug, and other mail addresses with it.',
    args: [
      {
        name: 'dir',
        required: true,
        summary: 'The folder that `svc gateway export` made',
        stored: 'paths',
      },
    ],
    options: [
      { flag: 'slug', value: 'SLUG', summary: 'Where another project has its slug' },
      ...DATA_OPTIONS,
    ],
    examples: [
      'gateway import /moves/shop',
      'gateway import ./shop --slug shop-2 --data /var/lib/svc-gateway',
    ],
    load: () => import('./gateway-import.ts'),
  },
  {
    words: ['gateway', 'project', 'list'],
    summary: 'List the projects of the gateway that runs here.',
    description:
      'Which there are, who owns them, what they sent in this calendar month (UTC), which must not send, and which are being moved. Asks the running gateway by the socket in its data folder, so run it as the user that the gateway runs as. It looks into each project in turn; with thousands of them that takes a while.',
    args: [],
    options: DATA_OPTIONS,
    examples: ['gateway project list', 'gateway project list --data /var/lib/svc-gateway --json'],
    load: () => import('./gateway-project-list.ts'),
  },
  {
    words: ['gateway', 'project', 'block'],
    summary: 'Let a project send no mail.',
    description:
      'Its calls to send are refused with SEND_BLOCKED and the reason, and what waits to be sent fails. A project is blocked by itself when too many of its messages bounce or are complained about.',
    args: [PROJECT_ARGUMENT],
    options: [
      { flag: 'reason', value: 'TEXT', summary: 'Why; the project is told (up to 200 characters)' },
      ...DATA_OPTIONS,
    ],
    examples: ['gateway project block shop --reason "Complaints of customers"'],
    load: () => import('./gateway-project-block.ts'),
  },
  {
    words: ['gateway', 'project', 'unblock'],
    summary: 'Let a blocked project send again.',
    description:
      'Lifts a block, whoever set it. Bounces and complaints up to now count no longer, so that the next one does not block it at once.',
    args: [PROJECT_ARGUMENT],
    options: DATA_OPTIONS,
    examples: ['gateway project unblock shop'],
    load: () => import('./gateway-project-unblock.ts'),
  },
  {
    words: ['gateway', 'project', 'hold'],
    summary: 'Let nothing be written to a project, to move it.',
    description:
      'It can be read, waits go on, and every write is refused with UNAVAILABLE and Retry-After, so that senders keep what they have and come again. Nothing is sent for it, and nothing expires. Returns when what was being sent is done, and holds after a restart. With several gateways over one store, end all but this one first.',
    args: [PROJECT_ARGUMENT],
    options: DATA_OPTIONS,
    examples: ['gateway project hold shop'],
    load: () => import('./gateway-project-hold.ts'),
  },
  {
    words: ['gateway', 'project', 'release'],
    summary: 'End the hold of a project: it stays here.',
    description: 'Writes are taken again at once, and what fell due meanwhile is done.',
    args: [PROJECT_ARGUMENT],
    options: DATA_OPTIONS,
    examples: ['gateway project release shop'],
    load: () => import('./gateway-project-release.ts'),
  },
  {
    words: ['gateway', 'project', 'moved'],
    summary: 'Close a held project for good, after another gateway has taken it in.',
    description:
      'Whoever still calls it here is answered UNAVAILABLE with the address to use, so that nothing is lost while names lead here. Its data stay in projects/ID below the data folder or in its database on the server, and its files in the bucket where there is one: remove them by hand, unless the other gateway has the same bucket.',
    args: [PROJECT_ARGUMENT],
    options: [
      { flag: 'to', value: 'URL', summary: 'Base address of the other gateway; callers are told' },
      ...DATA_OPTIONS,
    ],
    examples: ['gateway project moved shop --to https://svc.example.com'],
    load: () => import('./gateway-project-moved.ts'),
  },
];
