import type { CommandContext } from '../command.ts';
import { runGatewayProcess } from '../gateway-child.ts';
import { switchOption, textArgument } from '../input/option-values.ts';
import { adminOptions } from './gateway-restore.ts';

/** `svc gateway export NAME DIR` */
export function run(context: CommandContext): Promise<number> {
  const hold = switchOption(context, 'hold') ? ['--hold'] : [];
  const options = ['export', ...hold, ...adminOptions(context, textArgument(context, 'name'))];
  return runGatewayProcess('gateway/admin', options, context.env);
}
