import { readRecord } from '../../daemon/record.ts';
import { isAlive } from '../../shared/host/processes.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import { noKey } from '../signin/no-key.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { safeLine, shellWord } from '../view/terminal-text.ts';

export const declaration: Declaration = {
  summary: 'Print the environment variables of this connection, for a shell.',
  description:
    'Prints export lines for scripts and containers, with a comment that says where each value comes from: `eval "$(svc env --show-key)"`. The key is printed only with --show-key: anyone who has it can act with it.',
  args: [],
  options: [{ flag: 'show-key', summary: 'Print the API key too.' }],
  examples: ['env', 'env --show-key > svc.env', 'env --profile work --json'],
  seeAlso: ['auth token', 'whoami', 'project list', 'help environment'],
};

interface Variable {
  readonly name: string;
  /** Null if it isn't set, or isn't shown. */
  readonly value: string | null;
  /** Where the value comes from, or why there's none. */
  readonly from: string;
}

/** `svc env`: plain text even in a pipe, so that a shell can evaluate it; JSON only with --json. */
export function run(context: CommandContext): Promise<void> {
  const { options, output } = context;
  const variables = [gatewayVariable(context), keyVariable(context), ...otherVariables(context)];
  if (options['json']) output.answer({ variables });
  else for (const variable of variables) print(variable, context);
  return Promise.resolve();
}

function print({ name, value, from }: Variable, { output }: CommandContext): void {
  // One line each, because a shell may read it.
  output.lines((look) => [safeLine(look.typed(`# ${name}: ${from}`))]);
  if (value !== null) output.line(`export ${name}=${shellWord(value)}`);
}

function gatewayVariable(context: CommandContext): Variable {
  const name = 'SVC_GATEWAY';
  const { client, env, home } = context;
  if (env[name]) return { name, value: env[name], from: 'from the environment' };
  const profile = profileOf(context);
  const value = client().gateway?.origin ?? profile?.gateway ?? null;
  if (value !== null) return { name, value, from: `of ${profile?.text ?? 'the connection'}` };
  const record = readRecord(home.daemonFile);
  return record && isAlive(record.pid)
    ? { name, value: record.base_url, from: 'the daemon on this machine' }
    : { name, value: null, from: 'no daemon runs here. Start it with: svc up' };
}

function keyVariable(context: CommandContext): Variable {
  const name = 'SVC_API_KEY';
  const { client, env } = context;
  const key = client().apiKey;
  const isShown = switchOption(context, 'show-key');
  if (key === '' && isShown) throw noKey(context);
  if (key === '') return { name, value: null, from: 'no key is stored for this address' };
  const isGiven = env[name] === key && textOption(context, 'profile') === undefined;
  const from = isGiven ? 'from the environment' : `of ${profileOf(context)?.text ?? 'a profile'}`;
  const hidden = `${from}; not shown. To print it: svc env --show-key`;
  return { name, value: isShown ? key : null, from: isShown ? from : hidden };
}

/** The others that commands read, if they're set. */
function otherVariables({ env }: CommandContext): Variable[] {
  return ['SVC_HOME', 'SVC_AGENT', 'NODE_EXTRA_CA_CERTS'].flatMap((name) => {
    const value = env[name];
    return value ? [{ name, value, from: 'from the environment' }] : [];
  });
}

function profileOf(context: CommandContext): { gateway: string | null; text: string } | null {
  const file = context.home.credentialsFile;
  const { current, profiles } = storedProfiles(file);
  const name = textOption(context, 'profile') ?? current;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  return profile ? { gateway: profile.gateway, text: `profile ${name} in ${file}` } : null;
}
