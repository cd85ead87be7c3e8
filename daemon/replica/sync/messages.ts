/** A task from the daemon to the sync process. */
export type SyncTask =
  /** Takes the replica's lock and checks the whole replica. */
  | { readonly kind: 'prepare'; readonly folder: string }
  /** Opens the replica for sync. Send it only when the gateway has just answered. */
  | {
      readonly kind: 'open';
      readonly folder: string;
      readonly syncUrl: string;
      readonly token: string;
    }
  /** Syncs with the gateway. */
  | { readonly kind: 'sync' };

export type SyncRequest = SyncTask & { readonly id: number };

export type SyncAnswer =
  | { readonly id: number; readonly ok: true; readonly value: PrepareResult | null }
  | { readonly id: number; readonly ok: false; readonly message: string };

/** The result of `prepare`. */
export type PrepareResult =
  | { readonly state: 'ready' }
  /** Another process is using the replica. */
  | { readonly state: 'locked' }
  | { readonly state: 'damaged'; readonly reason: string };
