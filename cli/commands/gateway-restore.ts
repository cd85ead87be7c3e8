import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { textOption } from '../input/option-values.ts';

/** `svc gateway restore DIR` */
export function run(context: CommandContext): Promise<never> {
  return becomeGateway('gateway/admin', ['restore', ...adminOptions(context)]);
}

/** Where the data are. */
export function dataOptions(context: CommandContext): string[] {
  const config = textOption(context, 'config');
  const data = textOption(context, 'data');
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...(data === undefined ? [] : ['--data', data]),
    ...(context.output.json ? ['--json'] : []),
  ];
}

/** The same, and what is named: the folder, behind the project where there is one. */
export function adminOptions(context: CommandContext, project?: string): string[] {
  return [
    ...dataOptions(context),
    '--',
    ...(project === undefined ? [] : [project]),
    String(context.args['dir']),
  ];
}
