import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { switchOption } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 1,
  summary: "Back up a gateway's data to a new folder, even while it runs.",
  description:
    'Each project is copied as of one moment, with every write confirmed before the backup began. Files in an S3 bucket are listed, not copied. The master key is left out unless you ask for it: keep a copy elsewhere, because nothing can decrypt the stored secrets without it. The folder appears only when the backup is complete. What is damaged is left out and named, and the exit code is 1.',
  args: [
    {
      name: 'dir',
      required: true,
      summary: 'The folder to create; it must not exist',
      stored: 'paths',
    },
  ],
  options: [
    ...DATA_OPTIONS,
    { flag: 'include-key', summary: 'Include the master key in the backup' },
  ],
  examples: [
    'gateway backup /backup/2026-01-02',
    'gateway backup ./copy --data /var/lib/svc-gateway',
  ],
};

export function run(context: CommandContext): Promise<never> {
  const key = switchOption(context, 'include-key') ? ['--include-key'] : [];
  const options = ['backup', ...key, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
