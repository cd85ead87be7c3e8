import { dataOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { switchOption, textOption } from '../../input/option-values.ts';

const SOURCES = ['from', 'replica', 'bucket'] as const;

export const declaration: Declaration = {
  order: 5,
  summary: 'Replace damaged data of a gateway by good copies.',
  description:
    'Checks everything and replaces only what is damaged, with copies that it checks first. Files can be replaced while the gateway runs. To replace a database, stop the gateway (or svc down). You lose what was written after its copy was made, so the command first says where the ledger ends now and would end, and replaces nothing without --yes. It keeps the damaged database. Exit code 1: something is still damaged, or --yes is missing.',
  args: [],
  options: [
    { flag: 'from', value: 'DIR', summary: 'A backup', stored: 'paths' },
    {
      flag: 'replica',
      value: 'DIR',
      summary: "A member's replica of the project: replicas/prj_… in a daemon's data folder",
      stored: 'paths',
    },
    { flag: 'bucket', value: 'ADDRESS', summary: 'A bucket with the files, as in SVC_BLOBS' },
    { flag: 'yes', summary: 'Replace databases, although what is newer than the copies is lost' },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway repair --from /backup/2026-01-02',
    'gateway repair --replica ./replicas/prj_k3m9q2x7w1r5t8b4 --yes',
  ],
  seeAlso: ['gateway check', 'gateway restore'],
};

export function run(context: CommandContext): Promise<never> {
  const given = SOURCES.flatMap((name) => {
    const value = textOption(context, name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const yes = switchOption(context, 'yes') ? ['--yes'] : [];
  const options = ['repair', ...given, ...yes, ...dataOptions(context)];
  return becomeGateway('gateway/admin', options);
}
