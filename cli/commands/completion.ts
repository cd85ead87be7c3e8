import type { CommandModule, CommandSpec } from '../command.ts';
import { bashScript, fishScript, zshScript } from '../view/completion-scripts.ts';
import { usageError } from '../errors.ts';
import { SHELL_NAMES } from './specs-names.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `svc completion SHELL` for these commands. */
export function completionFor(commands: readonly CommandSpec[]): CommandModule {
  return {
    run: ({ args, output }) => {
      const given = String(args['shell']);
      const shell = SHELL_NAMES.find((one) => one === given);
      if (!shell) {
        throw usageError(
          `There is no completion for "${given}".`,
          `It is made for: ${SHELL_NAMES.join(', ')}`,
        );
      }
      output.line(SCRIPTS[shell](commands));
      return Promise.resolve();
    },
  };
}
