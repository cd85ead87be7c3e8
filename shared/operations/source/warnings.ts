import { SERVICE_SOURCE } from '../../rules/source-name.ts';
import type { Repositories } from '../../store/repositories.ts';

/** Warns of a filter by a source that isn't there: it may have been mistyped, or be added later. */
export async function sourceWarnings(
  { sources }: Pick<Repositories, 'sources'>,
  name: string | undefined,
): Promise<string[]> {
  if (name === undefined || name === SERVICE_SOURCE || (await sources.findByName(name))) return [];
  return [`There's no source \`${name}\` yet: its events arrive only once you add it.`];
}
