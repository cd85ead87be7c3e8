import type { ProjectInfo, ServerInfo } from '../../shared/kernel/context.ts';

export type ReplicaState =
  /** Nothing was heard of the gateway yet. */
  | 'connecting'
  /** The database file is being copied. */
  | 'copying'
  /** The copy is there and takes over what happened since. */
  | 'catching-up'
  | 'live'
  /** The gateway cannot be reached. */
  | 'offline'
  /** The gateway refuses the key: there is no copy any more. */
  | 'refused'
  /** Where the gateway keeps its databases there are no replicas: there is no copy, and all calls go to the gateway. */
  | 'none'
  /** Gateway and daemon do not understand each other: reads go to the gateway. */
  | 'unsupported';

/** What this machine has to say about the ledger it is shown. */
export type VerifierStatus =
  /** `seq` is the newest entry that was checked; 0 before the first. */
  | { readonly ok: true; readonly seq: number }
  /** The ledger is not what was seen before, from the entry `seq` on. Stays, in `file` as well, until somebody accepts it. */
  | {
      readonly ok: false;
      readonly seq: number;
      readonly reason: VerifierReason;
      readonly file: string;
    };

export type VerifierReason =
  | 'truncated'
  | 'rewritten'
  | 'hash_mismatch'
  | 'link_broken'
  | 'seq_gap';

export interface ReplicaStatus {
  readonly state: ReplicaState;
  /** The number of the newest commit in the copy; null while there is none that may be read. */
  readonly position: number | null;
  /** Since the copy was last known to have everything, in milliseconds; null when it never was. */
  readonly ageMs: number | null;
  /** So many commits of the gateway are known that the copy does not have. */
  readonly behind: number;
  /** Names the history the copy belongs to; null while there is none. */
  readonly epoch: string | null;
  /** What is in the way, and the next step; null while all is well. */
  readonly detail: string | null;
  /** The error code of a gateway that refused: UNAUTHENTICATED, KEY_REVOKED or SCOPE_MISSING. */
  readonly code: string | null;
  /** Bytes, while the database file is being copied. */
  readonly copied: { readonly done: number; readonly total: number } | null;
  /** Milliseconds since 1970; null unless the gateway cannot be reached. */
  readonly offlineSince: number | null;
  readonly witness: VerifierStatus;
}

/** Whether the copy may answer now. */
export interface Freshness {
  /** `live`: as good as the gateway. `stale`: the gateway is out of reach. `no`: ask the gateway. */
  readonly usable: 'live' | 'stale' | 'no';
  /** Since the copy was known to have everything, in milliseconds; Infinity when it never was. */
  readonly ageMs: number;
}

/** What the gateway tells of itself; remembered for a start without it. */
export interface ReplicaInfo {
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  /** The schema of the gateway's database. */
  readonly schemaVersion: number;
}
