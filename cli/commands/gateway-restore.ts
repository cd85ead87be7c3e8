import type { CommandContext } from '../command.ts';
import { runGatewayProcess } from '../gateway-child.ts';
import { textOption } from '../input/option-values.ts';

/** `svc gateway restore DIR` */
export function run(context: CommandContext): Promise<number> {
  return runGatewayProcess('gateway/admin', ['restore', ...adminOptions(context)], context.env);
}

/** The folder of the backup, and where the data are. */
export function adminOptions(context: CommandContext): string[] {
  const config = textOption(context, 'config');
  const data = textOption(context, 'data');
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...(data === undefined ? [] : ['--data', data]),
    ...(context.output.json ? ['--json'] : []),
    '--',
    String(context.args['dir']),
  ];
}
