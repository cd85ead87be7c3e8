import * as z from 'zod';
import {
  ACTIVITY_SPANS,
  percentileOf,
  type ActivityCell,
  type ActivityKind,
  type ActivitySpan,
} from '../../../../../shared/rules/activity.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

/** So many rows of each kind a page counts itself, beyond those that maintenance has counted. */
const TAIL_ROWS = 2000;
/** Durations are shown once there are so many. */
const MEDIAN = 0.5;
const NEARLY_ALL = 0.95;

/** The median and the 95th percentile, in milliseconds. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

type Bins = ReadonlyMap<number, number>;

/** What happened in a span of time, step by step. */
export class Activity {
  readonly span: ActivitySpan;
  /** False while maintenance still counts. */
  readonly isCurrent: boolean;
  /** The number of the first step. */
  readonly #first: number;
  /** For each kind and name, the values by step; index 0 is the step before the first. */
  readonly #values = new Map<ActivityKind, Map<string, (number | undefined)[]>>();

  constructor(span: ActivitySpan, now: number, isCurrent: boolean) {
    this.span = span;
    this.isCurrent = isCurrent;
    this.#first = Math.floor(now / span.stepMs) - span.points + 1;
  }

  put({ bucket, kind, name, value }: Omit<ActivityCell, 'stepMs'>): void {
    const index = bucket - this.#first + 1;
    if (index < 0 || index > this.span.points) return;
    const names = this.#values.get(kind) ?? new Map<string, (number | undefined)[]>();
    this.#values.set(kind, names);
    const values = names.get(name) ?? [];
    names.set(name, values);
    const isGauge = kind === 'disk' || kind === 'oldest';
    values[index] = isGauge ? value : (values[index] ?? 0) + value;
  }

  /** When a step begins, in milliseconds. */
  beginOf(step: number): number {
    return (this.#first + step) * this.span.stepMs;
  }

  names(kind: ActivityKind): string[] {
    return [...(this.#values.get(kind)?.keys() ?? [])];
  }

  /** A count for each step. */
  counts(kind: ActivityKind, name = ''): number[] {
    const values = this.#values.get(kind)?.get(name) ?? [];
    return this.#steps((index) => values[index] ?? 0);
  }

  /** The last known value at each step; null before the first one. */
  gauges(kind: 'disk' | 'oldest'): (number | null)[] {
    const values = this.#values.get(kind)?.get('') ?? [];
    let last: number | null = values[0] ?? null;
    return this.#steps((index) => (last = values[index] ?? last));
  }

  /** The percentiles of durations at each step. */
  percentiles(kind: 'wait' | 'work' | 'decision'): Percentiles[] {
    return this.#steps((index) => percentiles(this.#bins(kind, index, index)));
  }

  /** The percentiles of the durations of some steps, or of all. */
  percentilesOf(
    kind: 'wait' | 'work' | 'decision',
    from = 0,
    to = this.span.points - 1,
  ): Percentiles {
    return percentiles(this.#bins(kind, from + 1, to + 1));
  }

  #bins(kind: ActivityKind, from: number, to: number): Bins {
    const bins = new Map<number, number>();
    for (const [name, values] of this.#values.get(kind) ?? []) {
      const count = values.slice(from, to + 1).reduce<number>((sum, one) => sum + (one ?? 0), 0);
      if (count > 0) bins.set(Number(name), count);
    }
    return bins;
  }

  #steps<T>(valueOf: (index: number) => T): T[] {
    return Array.from({ length: this.span.points }, (_, step) => valueOf(step + 1));
  }
}

function percentiles(bins: Bins): Percentiles {
  return { p50: percentileOf(bins, MEDIAN), p95: percentileOf(bins, NEARLY_ALL) };
}

/** The span that the page's query names; a day by default. */
export function spanOf(context: PageContext): ActivitySpan {
  const wanted = context.query('span') ?? 'day';
  const span = ACTIVITY_SPANS.find(({ name }) => name === wanted) ?? ACTIVITY_SPANS[1];
  if (!span) throw new Error('There are no spans.');
  return span;
}

/** Reads what has been counted, and counts the newest rows itself. */
export const activityOf = pageRead(
  'any',
  { span: z.custom<ActivitySpan>() },
  async ({ store: { activity: counts }, now }, { span }) => {
    const live = await counts.count(await counts.position(now), now, TAIL_ROWS);
    const activity = new Activity(span, now, live.isAll);
    for (const one of await counts.of(span, now)) activity.put(one);
    for (const one of live.cells) if (one.stepMs === span.stepMs) activity.put(one);
    return activity;
  },
);
