import type { CommandContext } from '../command.ts';
import { runGatewayProcess } from '../gateway-child.ts';
import { switchOption, textOption } from '../input/option-values.ts';

/** `svc gateway`: the gateway is our child, has our output, and ends with us. */
export function run(context: CommandContext): Promise<number> {
  const config = textOption(context, 'config');
  const options = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(switchOption(context, 'json') ? ['--json'] : []),
  ];
  return runGatewayProcess('gateway', options, context.env);
}
