import { SERVICE_SOURCE } from '../../rules/inbox/source-name.ts';
import type { Repositories } from '../../store/repositories.ts';

/** Warns if no source has this name: it may be a typo, or someone may add the source later. */
export async function sourceWarnings(
  { sources }: Pick<Repositories, 'sources'>,
  name: string | undefined,
): Promise<string[]> {
  if (name === undefined || name === SERVICE_SOURCE || (await sources.findByName(name))) return [];
  return [`There's no source \`${name}\` yet: its events arrive only once you add it.`];
}
