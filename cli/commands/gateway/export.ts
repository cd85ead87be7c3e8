import { adminOptions, DATA_OPTIONS, PROJECT_ARGUMENT } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 4,
  summary: 'Export one project to a folder, to move it to another gateway.',
  description:
    'Works whether or not the gateway runs. The folder holds the database, all files (including those in an S3 bucket) and the owner. Secrets stay encrypted, so the other gateway needs the same master key. With --hold the project becomes read-only first: callers are told to retry, sends in progress finish, and the export has every confirmed write. The project stays on hold until you release it. Replicas copy the project again from the new gateway.',
  args: [
    PROJECT_ARGUMENT,
    {
      name: 'dir',
      required: true,
      summary: 'The folder to create; it must not exist',
      stored: 'paths',
    },
  ],
  options: [...DATA_OPTIONS, { flag: 'hold', summary: 'Make the project read-only from now on' }],
  examples: ['gateway export shop /moves/shop --hold', 'gateway export shop ./shop'],
};

export function run(context: CommandContext): Promise<never> {
  const hold = switchOption(context, 'hold') ? ['--hold'] : [];
  const options = ['export', ...hold, ...adminOptions(context, textArgument(context, 'name'))];
  return becomeGateway('gateway/admin', options);
}
