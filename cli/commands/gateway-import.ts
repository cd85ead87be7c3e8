import type { CommandContext } from '../command.ts';
import { runGatewayProcess } from '../gateway-child.ts';
import { textOption } from '../input/option-values.ts';
import { adminOptions } from './gateway-restore.ts';

/** `svc gateway import DIR` */
export function run(context: CommandContext): Promise<number> {
  const slug = textOption(context, 'slug');
  const named = slug === undefined ? [] : ['--slug', slug];
  const options = ['import', ...named, ...adminOptions(context)];
  return runGatewayProcess('gateway/admin', options, context.env);
}
