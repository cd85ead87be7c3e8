import { deadline } from '../../shared/lib/deadline.ts';
import { didYouMean } from '../../shared/lib/suggest.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { usageError } from '../errors.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { STORED, STORED_NAMES } from '../stored-names.ts';
import { bashScript, fishScript, zshScript } from '../view/help/completion-scripts.ts';

/** The shells with a completion script. */
export const SHELL_NAMES = ['bash', 'zsh', 'fish'] as const;

export const declaration: Declaration = {
  summary: 'Print the completion script for your shell.',
  description:
    "Completes commands, flags and known values. Save the script where your shell looks for completions, or load it from your shell's startup file.",
  args: [{ name: 'shell', required: false, summary: 'bash, zsh or fish', choices: SHELL_NAMES }],
  options: [
    {
      flag: 'values',
      value: 'NAMES',
      summary:
        'Print stored names of this kind instead, one per line; the completion scripts use this',
      choices: STORED_NAMES,
    },
  ],
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/svc',
    'completion zsh > ~/.zfunc/_svc',
    'completion fish > ~/.config/fish/completions/svc.fish',
  ],
  seeAlso: ['help environment'],
};

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
/** Nobody waits longer after pressing Tab. */
const VALUES_WITHIN_MS = 1500;
/**
 * Strangers may have chosen a name, and Bash expands `$(…)` in completions, so only names that no shell expands are
 * offered.
 */
const HARMLESS = /^[\w.+/][\w.+/-]*$/;

export async function run(context: CommandContext): Promise<void> {
  const of = textOption(context, 'values');
  if (of !== undefined) return printValues(of, context);
  const given = textArgument(context, 'shell');
  const shell = SHELL_NAMES.find((one) => one === given);
  if (!shell) {
    throw usageError(
      given === undefined
        ? '<shell> is missing.'
        : `svc has no completion script for "${given}".${didYouMean(given, SHELL_NAMES)}`,
      `Available for: ${SHELL_NAMES.join(', ')}`,
    );
  }
  // Imported late because the tree is built from files like this one.
  const { allCommands } = await import('../tree.ts');
  context.output.line(SCRIPTS[shell](allCommands()));
}

/** One per line. Prints nothing on failure: an error message would land in the middle of typing. */
async function printValues(of: string, context: CommandContext): Promise<void> {
  try {
    const names = of === 'profiles' ? profileNames(context) : await namesOf(of, context);
    for (const name of names) if (HARMLESS.test(name)) context.output.line(name);
  } catch {
    // The server doesn't answer, or not in time.
  }
}

function profileNames({ home }: CommandContext): string[] {
  return Object.keys(storedProfiles(home.credentialsFile).profiles);
}

async function namesOf(of: string, { client, signal }: CommandContext): Promise<readonly string[]> {
  const soon = AbortSignal.any([signal, deadline(VALUES_WITHIN_MS)]);
  return STORED[of as keyof typeof STORED](client(), soon);
}
