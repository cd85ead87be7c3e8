/** What the daemon asks of the process that synchronizes. */
export type SyncTask =
  /** Takes the lock of the copy, and looks at all of it: whether it may be used. */
  | { readonly kind: 'prepare'; readonly folder: string }
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
  /** Another process is using the replica. */
  | { readonly state: 'locked' }
  | { readonly state: 'damaged'; readonly reason: string };
