import { runChild, type ChildResult } from './child.ts';
import type { FeedEvent } from '../../clients/typescript/core/event-feed.ts';
import { EXIT } from '../exit.ts';
import { eventEnv } from './event-env.ts';
import type { CloseResult, Lease, Verdict } from '../../clients/typescript/core/lease.ts';
import { ACK_RESULT_MAX_BYTES, NACK_REASON_MAX_BYTES } from '../../shared/lib/limits.ts';
import { parseExact, stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { cutUtf8 } from '../../shared/lib/text.ts';

/** `EX_TEMPFAIL` and `EX_DATAERR` from sysexits: try again, and never try again. */
const EXIT_TRY_AGAIN = 75;
const EXIT_BAD_DATA = 65;
const KILLED_REASON = 'The worker was stopped.';

/** The result of working on an event. */
export interface WorkResult extends CloseResult {
  readonly event_id: string;
  readonly type: string;
  readonly source: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** The command's output as the ack carries it; null if it printed nothing or failed. */
  readonly result: unknown;
  readonly duration_ms: number;
}

export interface WorkOptions {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /** The user wants to stop quickly: ends the command. */
  readonly kill: AbortSignal;
  readonly note: (text: string) => void;
  /** Gets each line the command prints, as it's printed. */
  readonly onPrinted: (event: FeedEvent, line: string) => void;
}

/** Runs the command for a claimed event and closes the event by its exit code. */
export async function workEvent(
  options: WorkOptions,
  event: FeedEvent,
  lease: Lease,
): Promise<WorkResult> {
  const started = performance.now();
  const child = await runChild(options.command, {
    env: { ...options.env, ...eventEnv(event) },
    input: stringifyExact(event),
    headBytes: ACK_RESULT_MAX_BYTES + 1,
    tailBytes: NACK_REASON_MAX_BYTES,
    onPrinted: (line) => options.onPrinted(event, line),
    onLine: options.note,
    kill: options.kill,
  });
  const decided = verdict(child, options.kill.aborted);
  const closed = await lease.close(decided, child.code === EXIT.pending);
  return {
    event_id: event.id,
    type: event.type,
    source: event.source,
    ...closed,
    exit_code: child.code,
    signal: child.signal,
    result: (decided.ack ? decided.result : null) ?? null,
    duration_ms: Math.round(performance.now() - started),
  };
}

function verdict(child: ChildResult, killed: boolean): Verdict {
  if (child.code === 0) return { ack: true, ...resultOf(child) };
  if (killed) return { ack: false, reason: KILLED_REASON, retry: true, until: ['now'] };
  return { ack: false, reason: reasonOf(child), retry: child.code !== EXIT_BAD_DATA };
}

/** Standard output as the result: JSON if it's complete and parses, otherwise `{text}`; nothing if it's empty. */
function resultOf(child: ChildResult): { result?: unknown } {
  const whole = child.head.toString('utf8');
  // The cut may have split a character.
  const text = (child.headComplete ? whole : whole.replace(/\uFFFD+$/, '')).trim();
  if (text === '') return {};
  if (child.headComplete) {
    try {
      const result = parseExact(text);
      if (fits(result)) return { result };
    } catch {
      // Not JSON: kept as text below.
    }
  }
  let bytes = ACK_RESULT_MAX_BYTES;
  let result = { text: cutUtf8(text, bytes) };
  // Quotes and control characters get longer as JSON, so find the right length by trying.
  while (!fits(result)) {
    bytes = Math.floor(bytes * 0.9);
    result = { text: cutUtf8(text, bytes) };
  }
  return { result };
}

function fits(result: unknown): boolean {
  return Buffer.byteLength(stringifyExact(result)) <= ACK_RESULT_MAX_BYTES;
}

/** The API keeps a reason's start, but the end of standard error explains the failure. */
function reasonOf(child: ChildResult): string {
  const how = child.signal ? `ended by ${child.signal}` : exitText(child.code);
  const room = NACK_REASON_MAX_BYTES - how.length - 2;
  const end = child.tail
    .subarray(-room)
    .toString('utf8')
    .replace(/^\uFFFD+/, '')
    .trim();
  return end === '' ? how : `${how}: ${end}`;
}

function exitText(code: number | null): string {
  return code === EXIT_TRY_AGAIN ? 'asked for a retry (exit 75)' : `exit ${code}`;
}
