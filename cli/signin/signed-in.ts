import { resolve } from 'node:path';
import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import type { Asker } from '../input/asker.ts';
import type { ProjectGrant, ProjectRef } from './calls.ts';
import { gatewayAddress } from './gateway-address.ts';
import { storedProfiles, storeProfile } from './profiles.ts';

export interface SignedIn {
  /** The key's profile, now the current one. */
  readonly profile: string;
  readonly project: ProjectRef;
  readonly gateway: string;
  /** Masked; null if a key was given. */
  readonly email: string | null;
}

interface WhereFrom {
  /** Used if `--gateway` isn't given. */
  readonly fallback: string | null;
  readonly asker: Asker | null;
  /** A command line that asks no questions. */
  readonly usage: string;
}

/** The gateway's address from `--gateway`, from the fallback, or from asking the user. */
export async function gatewayOf(
  context: CommandContext,
  { fallback, asker, usage }: WhereFrom,
): Promise<URL> {
  const given = textOption(context, 'gateway') ?? fallback;
  const insecure = switchOption(context, 'insecure');
  if (given !== null) return gatewayAddress(given, { insecure });
  if (!asker) throw usageError('--gateway is missing.', `Write it as: ${usage}`);
  return gatewayAddress(await asker.ask('Gateway address:'), { insecure });
}

/** Stores a key as the current profile, named by `--name` or after its project. */
export function storeSignedIn(
  context: CommandContext,
  { gateway, project, apiKey, email }: ProjectGrant & Pick<SignedIn, 'gateway' | 'email'>,
): SignedIn {
  const { home, env, output } = context;
  const caFile = gateway.startsWith('https:') ? env['NODE_EXTRA_CA_CERTS'] : undefined;
  const before = storedProfiles(home.credentialsFile);
  const profile = {
    gateway,
    api_key: apiKey,
    project: project.id,
    slug: project.slug,
    name: project.name,
    ...(email !== null && { email }),
    ...(caFile && { ca_file: resolve(caFile) }),
  };
  const wish = textOption(context, 'name') ?? null;
  const { name, replaced } = storeProfile(home.credentialsFile, profile, wish);
  if (replaced && profileOf(before, name)?.api_key !== apiKey) {
    output.note('The old key still works. To revoke it: svc key list, svc key revoke');
  }
  return { profile: name, project, gateway, email };
}
