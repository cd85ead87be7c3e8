/** The due rows that waited longest and aren't known yet. */
export interface DuePage<D> {
  readonly fresh: readonly D[];
  /** Whether more may follow. */
  readonly more: boolean;
  /** Whether some were left out because they're known. */
  readonly passedOver: boolean;
}
