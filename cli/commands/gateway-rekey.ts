import type { CommandContext } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { requiredText } from '../input/option-values.ts';
import { dataOptions } from './gateway-restore.ts';

/** `svc gateway rekey --new-key FILE` */
export function run(context: CommandContext): Promise<never> {
  const file = requiredText(
    context,
    'new-key',
    'Name a file for the new key; it is made where it is not there.',
  );
  const options = ['rekey', `--new-key=${file}`, ...dataOptions(context)];
  return becomeGateway('gateway/admin', options);
}
