import { isObject } from '../../shared/untyped.ts';
import type { CommandContext, CommandModule, CommandSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { STORED } from '../stored-names.ts';
import { bashScript, fishScript, zshScript } from '../view/completion-scripts.ts';
import { SHELL_NAMES } from './specs-names.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
/** Nobody waits longer for the Tab key. */
const VALUES_WITHIN_MS = 1500;
/** Bash reads `$(…)` in what it is offered, and names may be of strangers: only what no shell reads anything into. */
const HARMLESS = /^[\w.+/][\w.+/-]*$/;

/** `svc completion SHELL` for these commands. */
export function completionFor(commands: readonly CommandSpec[]): CommandModule {
  return {
    run: async (context) => {
      const of = textOption(context, 'values');
      if (of !== undefined) return printValues(of, context);
      const given = textArgument(context, 'shell');
      const shell = SHELL_NAMES.find((one) => one === given);
      if (!shell) {
        throw usageError(
          given === undefined ? '<shell> is missing.' : `There is no completion for "${given}".`,
          `It is made for: ${SHELL_NAMES.join(', ')}`,
        );
      }
      context.output.line(SCRIPTS[shell](commands));
    },
  };
}

/** One a line; none at all when they cannot be had at once: nobody asked for a message in the middle of typing. */
async function printValues(of: string, context: CommandContext): Promise<void> {
  try {
    const names = of === 'profiles' ? profileNames(context) : await namesOf(of, context);
    for (const name of names) if (HARMLESS.test(name)) context.output.line(name);
  } catch {
    // There is nobody to ask, or no time.
  }
}

function profileNames({ home }: CommandContext): string[] {
  return Object.keys(storedProfiles(home.credentialsFile).profiles);
}

async function namesOf(of: string, { client, signal }: CommandContext): Promise<string[]> {
  const { path, field } = STORED[of as keyof typeof STORED];
  const answer = await client().call('GET', path, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(VALUES_WITHIN_MS)]),
  });
  const items: unknown = isObject(answer) ? answer['items'] : null;
  return (Array.isArray(items) ? items : []).filter(isObject).map((item) => String(item[field]));
}
