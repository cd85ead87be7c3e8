import type { CommandModule, CommandSpec } from '../command.ts';
import { bashScript, fishScript, zshScript } from '../view/completion-scripts.ts';
import { usageError } from '../errors.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `svc completion SHELL` for these commands. */
export function completionFor(commands: readonly CommandSpec[]): CommandModule {
  return {
    run: ({ args, output }) => {
      const shell = String(args['shell']);
      if (!isKnown(shell)) {
        throw usageError(
          `There is no completion for "${shell}".`,
          'It is made for: bash, zsh, fish',
        );
      }
      output.line(SCRIPTS[shell](commands));
      return Promise.resolve();
    },
  };
}

function isKnown(shell: string): shell is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, shell);
}
