import type { ProjectInfo, ServerInfo } from '../../shared/kernel/context.ts';

export type ReplicaState =
  /** We haven't heard from the gateway yet. */
  | 'connecting'
  /** The database file is downloading. */
  | 'copying'
  /** The replica exists and is fetching newer commits. */
  | 'catching-up'
  | 'live'
  /** The gateway is unreachable. */
  | 'offline'
  /** The gateway refuses the key, so we removed the replica. */
  | 'refused'
  /** The key is limited to a part of the disk, so all calls go to the gateway. */
  | 'none'
  /** The gateway and the daemon use different schemas or APIs, so reads go to the gateway. */
  | 'unsupported';

/** This machine's verdict on the gateway's ledger. */
export type VerifierStatus =
  /** `seq` is the newest checked entry; 0 before the first. */
  | { readonly ok: true; readonly seq: number }
  /** From entry `seq` on, the ledger differs from the known one. Stays, also in `file`, until a user accepts it. */
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
  /** The number of the newest commit in the replica; null while no replica is readable. */
  readonly position: number | null;
  /** Milliseconds since the replica was last known to be complete; null if it never was. */
  readonly ageMs: number | null;
  /** The number of known gateway commits that the replica lacks. */
  readonly behind: number;
  /** The name of the replica's history; null without a replica. */
  readonly epoch: string | null;
  /** The problem and the next step; null if there's no problem. */
  readonly detail: string | null;
  /** The error code of a gateway that refuses the key: UNAUTHENTICATED, KEY_REVOKED or SCOPE_MISSING. */
  readonly code: string | null;
  /** Bytes, during the download of the database file; otherwise null. */
  readonly copied: { readonly done: number; readonly total: number } | null;
  /** Milliseconds since 1970; null while the gateway is reachable. */
  readonly offlineSince: number | null;
  readonly witness: VerifierStatus;
}

/** Says if the replica may answer now. */
export interface Freshness {
  /** `live`: as good as the gateway. `stale`: the gateway is unreachable. `no`: ask the gateway. */
  readonly usable: 'live' | 'stale' | 'no';
  /** Milliseconds since the replica was known to be complete; Infinity if it never was. */
  readonly ageMs: number;
}

/** The gateway's description of itself; we remember it for a start without the gateway. */
export interface ReplicaInfo {
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  /** The schema of the gateway's database. */
  readonly schemaVersion: number;
}
