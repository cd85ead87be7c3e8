import type { CommandContext } from '../command.ts';
import { runGatewayProcess } from '../gateway-child.ts';
import { adminOptions } from './gateway-restore.ts';
import { switchOption } from '../input/option-values.ts';

/** `svc gateway backup DIR` */
export function run(context: CommandContext): Promise<number> {
  const key = switchOption(context, 'include-key') ? ['--include-key'] : [];
  const options = ['backup', ...key, ...adminOptions(context)];
  return runGatewayProcess('gateway/admin', options, context.env);
}
