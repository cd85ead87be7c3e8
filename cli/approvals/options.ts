import type { OptionSpec } from '../command.ts';

export const UNTIL_DECIDED: OptionSpec = {
  flag: 'until-decided',
  summary: 'Go on waiting until somebody has decided, or the request expires.',
};

/** How every command ends that asks a person. */
export const ENDS =
  'Nobody has decided in time: exit code 6, and the command that waits on is printed. Ctrl-C ends the wait and leaves the request open; a daemon that restarts meanwhile does not end it.';
