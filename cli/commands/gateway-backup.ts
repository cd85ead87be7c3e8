import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { adminOptions } from './gateway-restore.ts';
import { switchOption } from '../input/option-values.ts';

/** `svc gateway backup DIR` */
export function run(context: CommandContext): Promise<never> {
  const key = switchOption(context, 'include-key') ? ['--include-key'] : [];
  const options = ['backup', ...key, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
