import type { OptionSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import {
  callOperation,
  nothingText,
  runOperation,
  type OperationRunner,
} from '../call/operation-command.ts';
import { plainText } from '../view/terminal-text.ts';

export const RAW_OPTION: OptionSpec = {
  flag: 'raw',
  summary: 'Print only the value: text without quotes, anything else as JSON.',
};

/** Operations that read a stored JSON value, and the field of the answer that holds it. */
interface ValueFields {
  readonly kv_get: 'value';
  readonly state_load: 'state';
}

/** Runs an operation that reads a stored JSON value; with --raw it prints only that. */
export function showingValue<N extends keyof ValueFields>(
  field: ValueFields[N],
): OperationRunner<N> {
  return async (context, shape) => {
    if (!switchOption(context, 'raw')) {
      return runOperation(shape, context, () => ({ json: [field] }));
    }
    const { options, output } = context;
    if (options['json'] === true) throw usageError("--raw and --json can't be used together.");
    const answer = await callOperation(shape, context);
    if (answer === null) {
      output.note(nothingText(shape) ?? 'Not found.');
      return EXIT.nothing;
    }
    const text = plainText(Reflect.get(answer, field));
    // In a pipe the bytes are exactly the value's; on a terminal the prompt needs a new line.
    const end = output.terminal && !text.endsWith('\n') ? '\n' : '';
    output.bytes(Buffer.from(text + end));
    return EXIT.done;
  };
}
