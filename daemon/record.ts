import { readIfThere, writePrivateFile } from './files.ts';

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

/** What `GET /_daemon/status` answers on the socket. */
export interface DaemonStatus extends DaemonRecord {
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
  return text === null ? null : parseRecord(text);
}

/** A record or status from its JSON text; null for anything else. */
export function parseRecord(text: string): DaemonRecord | null {
  try {
    const value = JSON.parse(text) as Partial<DaemonRecord> | null;
    const ours = typeof value?.pid === 'number' && typeof value.instance === 'string';
    return ours ? (value as DaemonRecord) : null;
  } catch {
    return null;
  }
}
