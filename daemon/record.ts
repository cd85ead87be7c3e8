import { readIfThere, writePrivateFile } from './files.ts';
import type { ReplicaStatus } from './replica/status.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';
import type { Damage } from '../shared/store/sums/damage.ts';

/** The daemon's description of itself, in `daemon.json` and on its socket. */
export interface DaemonRecord {
  readonly pid: number;
  readonly started_at: string;
  /** Random for each start, to distinguish this daemon from an earlier one with the same pid. */
  readonly instance: string;
  readonly version: string;
  readonly base_url: string;
  readonly mcp_url: string;
  readonly hooks_url: string;
  readonly socket: string;
  /** Null until the first start has created the project. */
  readonly project: string | null;
  /** `local`: the project exists on this machine only. `replica`: the daemon has a replica of a gateway's project. */
  readonly mode: 'local' | 'replica';
  /** Base address of the gateway; null in local mode. */
  readonly gateway: string | null;
  readonly state: 'starting' | 'ready';
}

/** Who gets requests for decisions, and through which channels. */
export interface MessagingStatus {
  /** Where mail goes: `outbox` is a folder on this machine. */
  readonly mail: 'outbox' | 'smtp';
  /** The owner's masked address; null until a user sets it. */
  readonly owner: string | null;
  /** True if the settings have a bot. */
  readonly telegram: boolean;
  /** Why the bot doesn't work now; null if it works or there's no bot. */
  readonly telegram_trouble: string | null;
  /** The number of active email channels, including the owner's, and of active Telegram channels. */
  readonly active_email: number;
  readonly active_telegram: number;
}

/** Whether the disk has room for what comes in. */
export interface DiskReport {
  /** `low`: webhooks, mail and files are refused. `full`: large ones are refused everywhere. */
  readonly level: 'ok' | 'low' | 'full';
  readonly free_bytes: number;
  /** `low` begins below this; 0 if nothing is kept free. */
  readonly reserve_bytes: number;
  /** Why nothing can be written, and what mends it; null if all is well. Earlier releases don't send it. */
  readonly trouble?: { readonly text: string; readonly cure: string } | null;
}

/** The replica of a gateway's project, and what answers reads. */
export interface ReplicaReport {
  readonly state: ReplicaStatus['state'];
  /**
   * What answers reads now: `local` is the replica, `late` is the replica while the gateway answers too late or not at all,
   * and `stale` is the replica while it can't be reached.
   */
  readonly reads: 'local' | 'late' | 'stale' | 'gateway';
  /** The number of the newest commit in the replica; null while no replica is readable. */
  readonly position: number | null;
  /** The number of known gateway commits that the replica lacks. */
  readonly behind: number;
  /** Milliseconds since the replica was last known to be complete; null if it never was. */
  readonly age_ms: number | null;
  /** ISO 8601; null while the gateway is reachable. */
  readonly offline_since: string | null;
  /** Bytes, during the download of the database file; otherwise null. */
  readonly copied: { readonly done: number; readonly total: number } | null;
  /** The problem and the next step; null if there's no problem. */
  readonly detail: string | null;
  /** The error code of a gateway that refuses the key. */
  readonly code: string | null;
  readonly witness: ReplicaStatus['witness'];
}

/** The answer of `GET /_daemon/status` on the socket. */
export interface DaemonStatus extends DaemonRecord {
  /** Null until the stores are open, and in team mode, where the gateway talks to people. */
  readonly people: MessagingStatus | null;
  /** Null as above; earlier releases don't send it. */
  readonly disk?: DiskReport | null;
  /** Objects that aren't as they were written, oldest first; empty as above. Earlier releases don't send it. */
  readonly damage?: readonly Damage[];
  /** Null in local mode. */
  readonly replica: ReplicaReport | null;
  readonly uptime_seconds: number;
  readonly memory: { readonly rss_bytes: number; readonly heap_used_bytes: number };
}

/** Replaces `daemon.json`. */
export function writeRecord(path: string, record: DaemonRecord): void {
  writePrivateFile(path, `${JSON.stringify(record, null, 2)}\n`);
}

/** The record in `daemon.json`, which may be out of date; null if it's missing or unreadable. */
export function readRecord(path: string): DaemonRecord | null {
  const text = readIfThere(path);
  const value: unknown = text === null ? null : parseObject(text);
  return isRecord(value) ? value : null;
}

/** The status in an answer's text; null for any other text. */
export function parseStatus(text: string): DaemonStatus | null {
  const value: unknown = parseObject(text);
  return isStatus(value) ? value : null;
}

/** We write this ourselves, so two fields are enough to distinguish it from another program's file. */
function isRecord(value: unknown): value is DaemonRecord {
  return (
    isObject(value) && typeof value['pid'] === 'number' && typeof value['instance'] === 'string'
  );
}

function isStatus(value: unknown): value is DaemonStatus {
  return isRecord(value) && 'uptime_seconds' in value;
}
