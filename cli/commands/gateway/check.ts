import { dataOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';

export const declaration: Declaration = {
  order: 4,
  summary: "Check all of a gateway's data for damage, even while it runs.",
  description:
    'Reads everything: the structure of the databases, their logs and ledgers, each file against its digest, and whether the master key opens the secrets. Also for the data of a local daemon: name its folder. Changes nothing but the list of damage that svc status, svc doctor and /readyz show. Exit code 1: something is damaged; the summary names it and says what to do.',
  args: [],
  options: DATA_OPTIONS,
  examples: ['gateway check', 'gateway check --data /var/lib/svc-gateway --json'],
  seeAlso: ['gateway repair', 'gateway backup', 'doctor'],
};

export function run(context: CommandContext): Promise<never> {
  return becomeGateway('gateway/admin', ['check', ...dataOptions(context)]);
}
