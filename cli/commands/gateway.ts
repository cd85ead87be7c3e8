import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { switchOption, textOption } from '../input/option-values.ts';

/** `svc gateway`: this process becomes the gateway. */
export function run(context: CommandContext): Promise<never> {
  const config = textOption(context, 'config');
  const options = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(switchOption(context, 'json') ? ['--json'] : []),
  ];
  return becomeGateway('gateway', options);
}
