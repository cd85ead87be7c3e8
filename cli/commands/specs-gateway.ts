import type { CommandSpec } from '../command.ts';

const DATA_OPTIONS: CommandSpec['options'] = [
  { flag: 'data', value: 'FOLDER', summary: 'The data folder of the gateway (SVC_DATA)' },
  { flag: 'config', value: 'FILE', summary: 'File with settings (SVC_CONFIG)' },
];

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
    args: [{ name: 'dir', required: true, summary: 'The folder to make; must not be there' }],
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
    args: [{ name: 'dir', required: true, summary: 'The folder that `svc gateway backup` made' }],
    options: DATA_OPTIONS,
    examples: ['gateway restore /backup/2026-01-02 --data /var/lib/svc-gateway'],
    load: () => import('./gateway-restore.ts'),
  },
];
