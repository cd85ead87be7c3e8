import { signInOptions } from '../../signin/options.ts';
import { profileOf } from '../../../daemon/credentials.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { textArgument, textOption } from '../../input/option-values.ts';
import { tellSignedIn } from '../../signin/next-steps.ts';
import { existing, storedProfiles } from '../../signin/profiles.ts';
import { signIn } from '../../signin/sign-in.ts';

export const declaration: Declaration = {
  order: 3,
  summary: 'Create a project at a gateway.',
  description:
    'Confirm with an emailed link, as when signing in. This machine gets a key for the project, stored as the current profile.',
  args: [{ name: 'name', required: true, summary: 'The name people see' }],
  options: signInOptions,
  examples: [
    'project create "Web shop"',
    'project create "Web shop" --gateway https://svc.example.com --email ana@example.com',
  ],
};

const USAGE = 'svc project create NAME --gateway URL --email EMAIL';

/** `svc project create`: a new project at a gateway, confirmed by a mailed link like a sign-in. */
export async function run(context: CommandContext): Promise<void> {
  const create = textArgument(context, 'name')?.trim() ?? '';
  if (create === '') throw usageError('<name> is empty.', 'For example: svc project create Shop');
  const fallback = gatewayOf(context);
  tellSignedIn(context, await signIn(context, { wish: { create }, fallback, usage: USAGE }));
}

/** The gateway from the environment or the profile, for use without `--gateway`. */
function gatewayOf(context: CommandContext): string | null {
  const { env, home } = context;
  if (textOption(context, 'gateway') !== undefined) return null;
  if (env['SVC_GATEWAY']) return env['SVC_GATEWAY'];
  const stored = storedProfiles(home.credentialsFile);
  const name = textOption(context, 'profile');
  const profile = name === undefined ? profileOf(stored, stored.current) : existing(name, stored);
  if (profile?.gateway) return profile.gateway;
  throw usageError(
    "This machine's daemon has only one project; a gateway can have more.",
    'Name a gateway: svc project create NAME --gateway URL. To run your own: svc gateway --help',
  );
}
