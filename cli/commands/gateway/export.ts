import { adminOptions, DATA_OPTIONS, PROJECT_ARGUMENT } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 4,
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
};

/** `svc gateway export NAME DIR` */
export function run(context: CommandContext): Promise<never> {
  const hold = switchOption(context, 'hold') ? ['--hold'] : [];
  const options = ['export', ...hold, ...adminOptions(context, textArgument(context, 'name'))];
  return becomeGateway('gateway/admin', options);
}
