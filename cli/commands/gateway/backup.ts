import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { switchOption } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 1,
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
};

/** `svc gateway backup DIR` */
export function run(context: CommandContext): Promise<never> {
  const key = switchOption(context, 'include-key') ? ['--include-key'] : [];
  const options = ['backup', ...key, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
