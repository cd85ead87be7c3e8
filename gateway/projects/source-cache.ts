import type { ProjectInfo, Vault } from '../../shared/kernel/context.ts';
import { VersionedCache } from '../../shared/lib/versioned-cache.ts';
import { openSecret } from '../../shared/operations/source/view.ts';
import type { SourceRow } from '../../shared/store/tables/inbox/sources.ts';

/** A source that can check deliveries: its secrets are unsealed. */
export interface OpenSource {
  readonly row: SourceRow;
  /** Each secret with the time it expires; null means never. */
  readonly secrets: readonly { readonly text: string; readonly until: number | null }[];
}

export function openSource(row: SourceRow, vault: Vault, { id }: ProjectInfo): OpenSource {
  const newest = openSecret(row, 'secret', vault, id);
  const previous = openSecret(row, 'previous_secret', vault, id);
  return {
    row,
    secrets: [
      ...(newest === null ? [] : [{ text: newest, until: null }]),
      ...(previous === null ? [] : [{ text: previous, until: row.previous_valid_until }]),
    ],
  };
}

/** The secrets that are valid at this time. */
export function heldSecrets({ secrets }: OpenSource, now: number): string[] {
  return secrets.filter(({ until }) => until === null || now < until).map(({ text }) => text);
}

/** Sources by the token of their URL. */
export class SourceCache extends VersionedCache<OpenSource> {}
