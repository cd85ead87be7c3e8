import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { textOption } from '../input/option-values.ts';
import { adminOptions } from './gateway-restore.ts';

/** `svc gateway import DIR` */
export function run(context: CommandContext): Promise<never> {
  const slug = textOption(context, 'slug');
  const named = slug === undefined ? [] : ['--slug', slug];
  const options = ['import', ...named, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
