import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';

export const declaration: Declaration = {
  order: 2,
  summary: 'Restore a backup into an empty data folder, after checking all of it.',
  description:
    "Checks every file against the backup's digests, each database's structure, each ledger up to its recorded head, and that the master key opens the secrets. Looks for the key at SVC_MASTER_KEY_FILE, as master.key in the data folder, and in the backup. Says what the backup lacks. Daemons copy their replicas again when they reconnect.",
  args: [
    {
      name: 'dir',
      required: true,
      summary: 'A folder created by `svc gateway backup`',
      stored: 'paths',
    },
  ],
  options: DATA_OPTIONS,
  examples: ['gateway restore /backup/2026-01-02 --data /var/lib/svc-gateway'],
};

export function run(context: CommandContext): Promise<never> {
  return becomeGateway('gateway/admin', ['restore', ...adminOptions(context)]);
}
