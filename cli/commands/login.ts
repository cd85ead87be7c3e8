import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { textOption } from '../input/option-values.ts';
import type { Wish } from '../signin/choose-project.ts';
import { tellSignedIn } from '../signin/next-steps.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { signIn } from '../signin/sign-in.ts';
import { signInWithKey } from '../signin/with-key.ts';

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
