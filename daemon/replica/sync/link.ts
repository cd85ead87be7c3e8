/** Where a replica syncs from. */
export interface Link {
  readonly syncUrl: string;
  /** The client's credential. */
  readonly token: string;
  /** A number that changes while data arrives. */
  readonly progress: () => number;
}
