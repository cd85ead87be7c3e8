/** Where a copy gets its news from. */
export interface Link {
  readonly syncUrl: string;
  /** What the client shows there. */
  readonly token: string;
  /** Changes while something comes in. */
  readonly progress: () => number;
}
