import type { OptionSpec } from '../command.ts';

export const UNTIL_DECIDED: OptionSpec = {
  flag: 'until-decided',
  summary: 'Keep waiting until someone decides or the request expires (default on a terminal).',
};

/** How every command that asks a person ends. */
export const ENDS =
  'Exit code 6: nobody decided in time; svc prints the command that resumes the wait. Ctrl-C stops waiting and leaves the request open. The wait survives a daemon restart.';
