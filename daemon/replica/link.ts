import type { SyncedTo } from './replica-folder.ts';

/** Where a copy gets its news from. */
export interface Link {
  readonly syncUrl: string;
  /** What the client shows there. */
  readonly token: string;
  /** Changes while something comes in. */
  readonly progress: () => number;
  /** True when the gateway has begun a later generation after these frames. */
  readonly endsWith: (place: SyncedTo) => Promise<boolean>;
}
