import type { CommandContext } from '../command.ts';

interface AnswerWarnings {
  readonly warnings?: readonly (string | { readonly message: string })[];
}

/** Prints an answer's warnings to standard error; with --json only the answer has them. */
export function warn(
  { options, output }: Pick<CommandContext, 'options' | 'output'>,
  answer: object | null,
): void {
  if (options['json'] === true) return;
  const { warnings = [] }: AnswerWarnings = answer ?? {};
  for (const warning of warnings) {
    output.note(`Warning: ${typeof warning === 'string' ? warning : warning.message}`);
  }
}
