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
  summary: "Sign in to a team's gateway with an emailed link or a key.",
  description:
    "On a terminal, svc asks for anything missing. Open the mailed link and type the code that svc shows. If you press Ctrl-C, run the same command again to continue. svc stores the key as a profile on this machine and makes it current. With --json, the code is a JSON line on standard error: user_code, email_masked, expires_at, mail. To join someone else's project, accept its owner's invitation first: svc member invite EMAIL --role member. --with-key stores a key made with svc key create.",
  args: [],
  options: [
    ...signInOptions.slice(0, 2),
    { flag: 'project', value: 'SLUG', summary: 'The project to sign in to, by slug or id' },
    { flag: 'create', value: 'NAME', summary: 'Create a new project with this name' },
    ...signInOptions.slice(2),
    {
      flag: 'with-key',
      value: 'SOURCE',
      summary: 'Store a key an owner gave you: @FILE or - for standard input; sends no mail',
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

/** `svc login`: gets a key for a gateway's project from a mailed link, or takes a key that already exists. */
export async function run(context: CommandContext): Promise<void> {
  if (textOption(context, 'profile') !== undefined) {
    throw usageError('svc login creates a profile.', 'Name it with: --name NAME');
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
    throw usageError('Use either --project or --create, not both.', 'See: svc login --help');
  }
  if (create === '') throw usageError('--create needs a name.', 'Write it as: --create NAME');
  if (create !== undefined) return { create };
  return project === undefined ? { anything: true } : { project };
}

/** People usually sign in again at the same gateway. */
function currentGateway({ home }: CommandContext): string | null {
  const stored = storedProfiles(home.credentialsFile);
  return profileOf(stored, stored.current)?.gateway ?? null;
}
