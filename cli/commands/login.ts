import { signInOptions } from '../signin/options.ts';
import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { usageError } from '../errors.ts';
import { textOption } from '../input/option-values.ts';
import type { Wish } from '../signin/choose-project.ts';
import { tellSignedIn } from '../signin/next-steps.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { signIn } from '../signin/sign-in.ts';
import { signInWithKey } from '../signin/with-key.ts';

export const declaration: Declaration = {
  summary: "Sign in to a team's gateway by a mailed link, or with a key.",
  description:
    'Asks on a terminal for what is missing, and never elsewhere. Compare the code that is shown with the one behind the link. Interrupted with Ctrl-C, the same command goes on where it was. The key is stored as a profile of this machine, which becomes the current one. With --json the code is a line of JSON on standard error: user_code, email_masked, expires_at. To a project of somebody else an owner lets you in with a key, made by: svc key create --name bob --scopes inbox:read,inbox:write,approvals,disk,ledger:read. You store it by --with-key.',
  args: [],
  options: [
    ...signInOptions.slice(0, 2),
    { flag: 'project', value: 'SLUG', summary: 'The project to join, by its slug or id' },
    { flag: 'create', value: 'NAME', summary: 'Make a new project of this name' },
    ...signInOptions.slice(2),
    {
      flag: 'with-key',
      value: 'SOURCE',
      summary: 'Store a key that an owner gave you: @FILE or - for standard input; sends no mail',
    },
  ],
  examples: [
    'login --gateway https://svc.example.com',
    'login --gateway https://svc.example.com --email ana@example.com --project shop',
    'login --gateway https://svc.example.com --email ana@example.com --create "Web shop" --json',
    'login --gateway https://svc.example.com --with-key -',
    'login --gateway https://svc.example.com --with-key @bob.key',
  ],
  seeAlso: ['project list', 'logout', 'up'],
};

const USAGE = 'svc login --gateway URL --email EMAIL [--project SLUG | --create NAME]';

/** `svc login`: a key of a gateway's project, by a link that is mailed, or one that somebody else made. */
export async function run(context: CommandContext): Promise<void> {
  if (textOption(context, 'profile') !== undefined) {
    throw usageError('svc login makes a profile.', 'Its name is given with: --name NAME');
  }
  const fallback = context.env['SVC_GATEWAY'] || currentGateway(context);
  const source = textOption(context, 'with-key');
  const signedIn =
    source === undefined
      ? await signIn(context, { wish: wishOf(context), fallback, usage: USAGE })
      : await signInWithKey(context, { source, fallback });
  tellSignedIn(context, signedIn);
}

function wishOf(context: CommandContext): Wish {
  const project = textOption(context, 'project');
  const create = textOption(context, 'create')?.trim();
  if (project !== undefined && create !== undefined) {
    throw usageError('--project and --create exclude each other.', 'See: svc login --help');
  }
  if (create === '') throw usageError('--create needs a name.', 'Write it as: --create NAME');
  if (create !== undefined) return { create };
  return project === undefined ? { anything: true } : { project };
}

/** Who signs in again most often does so where they were. */
function currentGateway({ home }: CommandContext): string | null {
  const stored = storedProfiles(home.credentialsFile);
  return profileOf(stored, stored.current)?.gateway ?? null;
}
