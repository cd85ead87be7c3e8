import type { ProjectInfo, Vault } from '../shared/context.ts';
import { openSecret } from '../shared/operations/source/view.ts';
import type { SourceRow } from '../shared/store/sources.ts';

/** A source ready to check deliveries, its secrets opened. */
export interface OpenSource {
  readonly row: SourceRow;
  /** Each with the time until which it holds; null is for ever. */
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

/** The secrets that hold at this time. */
export function heldSecrets({ secrets }: OpenSource, now: number): string[] {
  return secrets.filter(({ until }) => until === null || now < until).map(({ text }) => text);
}

/** Sources by the token of their URL, as they were read and opened before. Everything that changes a source empties it. */
export class KnownSources {
  readonly #found = new Map<string, OpenSource>();
  readonly #remembers: boolean;
  #stamp = 0;

  /** One that remembers nothing is for sources that others may change unseen. */
  constructor({ remembers }: { readonly remembers: boolean }) {
    this.#remembers = remembers;
  }

  /** Goes up with every change: what was read before it is not to be remembered after it. */
  get stamp(): number {
    return this.#stamp;
  }

  get(token: string): OpenSource | undefined {
    return this.#found.get(token);
  }

  /** `stamp` is the one from before the source was read. */
  set(token: string, source: OpenSource, stamp: number): void {
    if (this.#remembers && stamp === this.#stamp) this.#found.set(token, source);
  }

  clear(): void {
    this.#stamp += 1;
    this.#found.clear();
  }
}
