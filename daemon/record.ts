import { readIfThere, writePrivateFile } from './files.ts';
import type { ReplicaStatus } from './replica/status.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';

/** What a daemon writes of itself into `daemon.json`, and answers on its socket. */
export interface DaemonRecord {
  readonly pid: number;
  readonly started_at: string;
  /** Random for each start: tells this daemon from an earlier one with the same pid. */
  readonly instance: string;
  readonly version: string;
  readonly base_url: string;
  readonly mcp_url: string;
  readonly hooks_url: string;
  readonly socket: string;
  /** Null until the first start has made one. */
  readonly project: string | null;
  /** `local` has the project on this machine alone; `replica` has a copy of a gateway's. */
  readonly mode: 'local' | 'replica';
  /** Base address of the gateway; null in local mode. */
  readonly gateway: string | null;
  readonly state: 'starting' | 'ready';
}

/** Who is asked for decisions, and how they are reached. */
export interface MessagingStatus {
  /** Where mail goes: `outbox` is a folder of this machine. */
  readonly mail: 'outbox' | 'smtp';
  /** The owner's address, masked; null while nobody has named one. */
  readonly owner: string | null;
  /** Whether there is a bot. */
  readonly telegram: boolean;
  /** Why the bot doesn't work just now; null while it does, and without one. */
  readonly telegram_trouble: string | null;
  /** Active channels by email, the owner's among them, and by Telegram. */
  readonly active_email: number;
  readonly active_telegram: number;
}

/** The copy of a gateway's project, and what reads come from. */
export interface ReplicaReport {
  readonly state: ReplicaStatus['state'];
  /** Where reads are answered now: `local` is the copy, `stale` the copy while the gateway cannot be reached. */
  readonly reads: 'local' | 'stale' | 'gateway';
  /** The number of the newest commit in the copy; null while there is none that may be read. */
  readonly position: number | null;
  /** Commits of the gateway that are known and not in the copy. */
  readonly behind: number;
  /** Since the copy was known to have everything, in milliseconds; null when it never was. */
  readonly age_ms: number | null;
  /** ISO 8601; null unless the gateway cannot be reached. */
  readonly offline_since: string | null;
  /** Bytes, while the database file is being copied. */
  readonly copied: { readonly done: number; readonly total: number } | null;
  /** What is in the way and the next step; null while all is well. */
  readonly detail: string | null;
  /** The error code of a gateway that refused the key. */
  readonly code: string | null;
  readonly witness: ReplicaStatus['witness'];
}

/** What `GET /_daemon/status` answers on the socket. */
export interface DaemonStatus extends DaemonRecord {
  /** Null while the stores are being opened, and with a gateway, which asks people itself. */
  readonly people: MessagingStatus | null;
  /** Null in local mode. */
  readonly replica: ReplicaReport | null;
  readonly uptime_seconds: number;
  readonly memory: { readonly rss_bytes: number; readonly heap_used_bytes: number };
}

/** Replaces `daemon.json`. */
export function writeRecord(path: string, record: DaemonRecord): void {
  writePrivateFile(path, `${JSON.stringify(record, null, 2)}\n`);
}

/** What `daemon.json` says, which may be out of date; null when it is absent or unreadable. */
export function readRecord(path: string): DaemonRecord | null {
  const text = readIfThere(path);
  const value: unknown = text === null ? null : parseObject(text);
  return isRecord(value) ? value : null;
}

/** A status from the text of an answer; null for anything else. */
export function parseStatus(text: string): DaemonStatus | null {
  const value: unknown = parseObject(text);
  return isStatus(value) ? value : null;
}

/** Our own writing, so a look at two fields is enough to tell it from another program's. */
function isRecord(value: unknown): value is DaemonRecord {
  return (
    isObject(value) && typeof value['pid'] === 'number' && typeof value['instance'] === 'string'
  );
}

function isStatus(value: unknown): value is DaemonStatus {
  return isRecord(value) && 'uptime_seconds' in value;
}
