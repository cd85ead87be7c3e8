/** What the overview counts. The last two are values at a time; all others add up. */
export type ActivityKind =
  /** Events by source. */
  | 'received'
  /** Events by how they ended: `done` or `dead`. */
  | 'ended'
  /** Attempts that failed. */
  | 'failed'
  /** Times from receipt to the first claim, by bin. */
  | 'wait'
  /** Times from the last claim to the end, by bin. */
  | 'work'
  /** Times from a request to a person's decision, by bin. */
  | 'decision'
  /** Finished pushes: the route, or `callback`, and `delivered` or `dead`. */
  | 'push'
  /** Messages by result: `sent`, `failed` or `bounced`. */
  | 'mail'
  /** Bytes on the disk. */
  | 'disk'
  /** When the oldest pending event was received, in milliseconds; 0 if nothing is pending. */
  | 'oldest';

export interface ActivitySpan {
  readonly name: 'hour' | 'day' | 'week' | 'month';
  readonly stepMs: number;
  /** How many steps a picture shows. */
  readonly points: number;
  /** How many steps a row of its table sums up. */
  readonly perRow: number;
}

const MINUTE_MS = 60_000;

/** The spans that the overview shows. Each step is stored on its own, so a picture reads about a hundred rows a line. */
export const ACTIVITY_SPANS: readonly ActivitySpan[] = [
  { name: 'hour', stepMs: MINUTE_MS, points: 60, perRow: 5 },
  { name: 'day', stepMs: 15 * MINUTE_MS, points: 96, perRow: 4 },
  { name: 'week', stepMs: 120 * MINUTE_MS, points: 84, perRow: 12 },
  { name: 'month', stepMs: 480 * MINUTE_MS, points: 90, perRow: 3 },
];

/** How far back anything is counted. */
export const ACTIVITY_MS = Math.max(...ACTIVITY_SPANS.map((span) => span.stepMs * span.points));

/** One count or value of one step. */
export interface ActivityCell {
  readonly stepMs: number;
  /** The step's number since 1970. */
  readonly bucket: number;
  readonly kind: ActivityKind;
  readonly name: string;
  value: number;
}

const GAUGES: readonly ActivityKind[] = ['disk', 'oldest'];

/** Counts by minute, and spreads them over the steps at the end. */
export class ActivityTally {
  readonly #minutes = new Map<string, Omit<ActivityCell, 'stepMs'>>();

  add(at: number, kind: ActivityKind, name: string, value = 1): void {
    const bucket = Math.floor(at / MINUTE_MS);
    const id = `${bucket} ${kind} ${name}`;
    const known = this.#minutes.get(id);
    if (known === undefined) this.#minutes.set(id, { bucket, kind, name, value });
    else known.value = merged(kind, known.value, value);
  }

  cells(): ActivityCell[] {
    return ACTIVITY_SPANS.flatMap(({ stepMs }) => this.#of(stepMs));
  }

  #of(stepMs: number): ActivityCell[] {
    const minutes = stepMs / MINUTE_MS;
    const cells = new Map<string, ActivityCell>();
    for (const { bucket: minute, kind, name, value } of this.#minutes.values()) {
      const bucket = Math.floor(minute / minutes);
      const id = `${bucket} ${kind} ${name}`;
      const known = cells.get(id);
      if (known === undefined) cells.set(id, { stepMs, bucket, kind, name, value });
      else known.value = merged(kind, known.value, value);
    }
    return [...cells.values()];
  }
}

/** A later value replaces an earlier one; counts add up. */
function merged(kind: ActivityKind, before: number, after: number): number {
  return GAUGES.includes(kind) ? after : before + after;
}

/** Four bins for each doubling, so a percentile is at most a tenth away from the real one. */
const BINS_PER_DOUBLING = 4;

/** The bin of a duration; shorter ones than a millisecond count as one. */
export function binOf(ms: number): number {
  return Math.round(Math.log2(Math.max(1, ms)) * BINS_PER_DOUBLING);
}

/** The duration that this share of durations doesn't exceed, from their numbers by bin; null without any. */
export function percentileOf(bins: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...bins].toSorted(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const [bin, count] of sorted) {
    left -= count;
    if (left <= 0) return 2 ** (bin / BINS_PER_DOUBLING);
  }
  return null;
}
