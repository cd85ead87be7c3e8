import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';

export const declaration: Declaration = {
  order: 2,
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
};

/** `svc gateway restore DIR` */
export function run(context: CommandContext): Promise<never> {
  return becomeGateway('gateway/admin', ['restore', ...adminOptions(context)]);
}
