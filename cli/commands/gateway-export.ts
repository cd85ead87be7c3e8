import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { switchOption, textArgument } from '../input/option-values.ts';
import { adminOptions } from './gateway-restore.ts';

/** `svc gateway export NAME DIR` */
export function run(context: CommandContext): Promise<never> {
  const hold = switchOption(context, 'hold') ? ['--hold'] : [];
  const options = ['export', ...hold, ...adminOptions(context, textArgument(context, 'name'))];
  return becomeGateway('gateway/admin', options);
}
