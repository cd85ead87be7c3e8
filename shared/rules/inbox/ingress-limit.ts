/** How much senders may store in a project. 0: no limit. */
export interface IngressLimits {
  /** Bytes of stored events, for the project and for each source. */
  readonly projectBytes: number;
  readonly sourceBytes: number;
  /** What each source may store in a time. */
  readonly eventsPerMinute: number;
  readonly bytesPerTenMinutes: number;
}

export const NO_INGRESS_LIMITS: IngressLimits = {
  projectBytes: 0,
  sourceBytes: 0,
  eventsPerMinute: 0,
  bytesPerTenMinutes: 0,
};

/** What a source has stored, and what it sent in the current minute and the current ten minutes. */
export interface IngressUse {
  readonly storedBytes: number;
  readonly minuteEvents: number;
  readonly tenMinutesBytes: number;
}

export const INGRESS_LIMIT_KINDS = [
  'source_bytes',
  'project_bytes',
  'events_per_minute',
  'bytes_per_10_minutes',
] as const;

type IngressLimitKind = (typeof INGRESS_LIMIT_KINDS)[number];

/** A limit that keeps a source from storing another event, in the form of RATE_LIMITED's details. */
export interface ReachedLimit {
  readonly kind: IngressLimitKind;
  readonly limit: number;
  readonly used: number;
  /** Seconds until another try makes sense. */
  readonly retry_after: number;
}

/** Why events are refused: a limit, or the gateway's disk. */
export type RefusalKind = IngressLimitKind | 'gateway_disk';

const MIB = 1024 * 1024;

/** A sentence that says which limit was reached. */
export function limitText(kind: RefusalKind, limit: number): string {
  const size = limit < MIB ? `${Math.floor(limit / 1024)} KB` : `${Math.floor(limit / MIB)} MB`;
  switch (kind) {
    case 'source_bytes':
      return `Its stored events have reached ${size}, the most that one source may store.`;
    case 'project_bytes':
      return `The project's stored events have reached ${size}, the most that all its sources may store.`;
    case 'events_per_minute':
      return `It has sent ${limit} events this minute, the most that it may.`;
    case 'bytes_per_10_minutes':
      return `It has sent ${size} in ten minutes, the most that it may.`;
    case 'gateway_disk':
      return "The server's disk is nearly full, and this project stores the most on it.";
  }
}

const MINUTE_MS = 60_000;
export const TEN_MINUTES_MS = 600_000;
/** Space comes free as payloads pass their retention, which nobody can hurry: senders try again once an hour. */
const FULL_RETRY_SECONDS = 3600;

/**
 * The limit that a source has reached, or null. It may store an event as long as its use is below every limit, so the
 * last event may pass a limit by its own size. Quotas come first, because they mean the longer wait.
 */
export function reachedLimit(
  use: IngressUse,
  projectBytes: number,
  { limits, now }: { readonly limits: IngressLimits; readonly now: number },
): ReachedLimit | null {
  const checks: readonly (readonly [IngressLimitKind, number, number, number])[] = [
    ['source_bytes', limits.sourceBytes, use.storedBytes, FULL_RETRY_SECONDS],
    ['project_bytes', limits.projectBytes, projectBytes, FULL_RETRY_SECONDS],
    [
      'bytes_per_10_minutes',
      limits.bytesPerTenMinutes,
      use.tenMinutesBytes,
      secondsLeft(now, TEN_MINUTES_MS),
    ],
    ['events_per_minute', limits.eventsPerMinute, use.minuteEvents, secondsLeft(now, MINUTE_MS)],
  ];
  const reached = checks.find(([, limit, used]) => limit > 0 && used >= limit);
  if (!reached) return null;
  const [kind, limit, used, retryAfter] = reached;
  return { kind, limit, used, retry_after: retryAfter };
}

/** Which minute, or other window, a time is in. */
export function windowOf(now: number, lengthMs: number = MINUTE_MS): number {
  return Math.floor(now / lengthMs);
}

function secondsLeft(now: number, lengthMs: number): number {
  return Math.max(1, Math.ceil((lengthMs - (now % lengthMs)) / 1000));
}
