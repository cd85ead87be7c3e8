/** What the daemon asks of the process that synchronizes. */
export type SyncTask =
  /** Looks whether the copy may be used; with `check` at all of it. Takes the lock of the copy first. */
  | {
      readonly kind: 'prepare';
      readonly folder: string;
      readonly check: boolean;
    }
  /** Opens the copy for synchronizing. The gateway has answered a moment ago. */
  | {
      readonly kind: 'open';
      readonly folder: string;
      readonly syncUrl: string;
      readonly token: string;
    }
  /** Takes over what the gateway has. */
  | { readonly kind: 'sync' };

export type SyncRequest = SyncTask & { readonly id: number };

export type SyncAnswer =
  | { readonly id: number; readonly ok: true; readonly value: Prepared | null }
  | { readonly id: number; readonly ok: false; readonly message: string };

/** What came of `prepare`. */
export type Prepared =
  | { readonly state: 'ready' }
  /** Another process has the copy. */
  | { readonly state: 'locked' }
  /** The log has fewer frames than the client's notes say: it was folded in, or something is lost. */
  | { readonly state: 'short'; readonly generation: number; readonly frames: number }
  | { readonly state: 'damaged'; readonly reason: string };
