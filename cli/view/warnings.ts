import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { plainText } from './terminal-text.ts';

/** An answer's warnings, one per line. */
function warningsIn(answer: unknown): string[] {
  const warnings: unknown = isObject(answer) ? answer['warnings'] : null;
  return (Array.isArray(warnings) ? warnings : []).map((warning: unknown) => {
    const message = isObject(warning) ? warning['message'] : warning;
    return `Warning: ${plainText(message)}`;
  });
}

/** Prints an answer's warnings to standard error; with --json only the answer has them. */
export function warn(
  { options, output }: Pick<CommandContext, 'options' | 'output'>,
  answer: unknown,
): void {
  if (options['json'] === true) return;
  for (const warning of warningsIn(answer)) output.note(warning);
}
