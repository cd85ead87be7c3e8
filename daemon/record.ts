import { readIfThere, writePrivateFile } from './files.ts';
import { isObject, parseObject } from '../shared/untyped.ts';

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
  readonly mode: 'local';
  readonly state: 'starting' | 'ready';
}

/** Who is asked for decisions, and how they are reached. */
export interface PeopleStatus {
  /** Where mail goes: `outbox` is a folder of this machine. */
  readonly mail: 'outbox' | 'smtp';
  /** The owner's address, masked; null while nobody has named one. */
  readonly owner: string | null;
  /** Whether there is a bot. */
  readonly telegram: boolean;
  /** Active channels by email, the owner's among them, and by Telegram. */
  readonly active_email: number;
  readonly active_telegram: number;
}

/** What `GET /_daemon/status` answers on the socket. */
export interface DaemonStatus extends DaemonRecord {
  /** Null while the stores are being opened. */
  readonly people: PeopleStatus | null;
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
