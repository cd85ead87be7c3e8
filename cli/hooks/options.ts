import type { ArgumentSpec, CommandContext, OptionSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { typedSpanMs } from '../input/times.ts';
import { HOOK_CLIENT_NAMES, type HookClientName } from './clients.ts';

export const hookArgument: ArgumentSpec = {
  name: 'client',
  required: true,
  summary: `One of: ${HOOK_CLIENT_NAMES.map((name) => `\`${name}\``).join(', ')}.`,
  choices: HOOK_CLIENT_NAMES,
};

export const WAIT_OPTION: OptionSpec = {
  flag: 'wait',
  value: 'SPAN',
  summary:
    'How long a person has before the prompt on the screen decides (default 24h for claude-code, whose prompt stays on the screen meanwhile, else 5m).',
};

const SHORTEST_MS = 10_000;
const LONGEST_MS = 24 * 3_600_000;

export function chosenHookClient(context: CommandContext): HookClientName {
  const name = textArgument(context, 'client');
  const known = HOOK_CLIENT_NAMES.find((one) => one === name);
  if (known) return known;
  throw usageError(
    name === undefined ? '<client> is missing.' : `svc has no hook for \`${name}\`.`,
    `One of: ${HOOK_CLIENT_NAMES.join(', ')}.`,
  );
}

/** Milliseconds; undefined if not typed. */
export function typedWait(context: CommandContext): number | undefined {
  const given = textOption(context, 'wait');
  if (given === undefined) return undefined;
  const ms = typedSpanMs(given);
  if (ms !== null && ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms;
  throw usageError(`--wait must be a span from 10s to 24h, not "${given}".`, 'Try: --wait 5m');
}
