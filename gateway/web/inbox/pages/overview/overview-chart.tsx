import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Chart, type Series } from '../../../ui/charts/chart.tsx';
import { digitsOf } from '../../../ui/number.ts';
import { Minute } from '../../../ui/minute.tsx';
import { lengthOfTime } from '../../../ui/time.ts';
import type { Activity } from './activity-queries.ts';
import { Table, type Column } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';

/** What each picture of the overview is drawn from. */
export interface ChartInput {
  readonly context: PageContext;
  readonly activity: Activity;
}

interface OverviewChart extends ChartInput {
  readonly id: string;
  readonly title: string;
  readonly headline?: Child;
  readonly kind: 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly text?: (value: number) => string;
  readonly scale?: (max: number) => number;
  readonly nothing: string;
  readonly columns: readonly Column<Slice>[];
}

/** Some steps of a span, which a row of a table sums up. */
export interface Slice {
  readonly from: number;
  /** The last one. */
  readonly to: number;
}

/** A picture with its table, whose rows each sum up a few steps. */
export function OverviewChart(props: OverviewChart): JSX.Element {
  const { context, activity, columns, title, text = digitsOf } = props;
  const { points, perRow } = activity.span;
  const slices = Array.from({ length: points / perRow }, (_, row) => ({
    from: row * perRow,
    to: (row + 1) * perRow - 1,
  }));
  const at = (step: number): Child => <Minute at={activity.beginOf(step)} now={context.now} />;
  return (
    <Chart {...props} text={text} times={[at(0), at(points / 2), 'now']}>
      <Table
        caption={title}
        columns={[{ title: 'From', cell: ({ from }) => at(from) }, ...columns]}
        items={slices}
      />
    </Chart>
  );
}

/** Adds up the steps of a slice. */
export function sumOf(values: readonly number[], { from, to }: Slice): number {
  return values.slice(from, to + 1).reduce((sum, value) => sum + value, 0);
}

/** A column with the sums of a series. */
export function sumColumn(title: string, values: readonly number[]): Column<Slice> {
  return { title, numeric: true, cell: (slice) => digitsOf(sumOf(values, slice)) };
}

/** Such as `340 ms`, `2.4 s` or `3 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : lengthOfTime(ms);
}

/** A dash where there is no value. */
export function orDash(value: number | null, text: (value: number) => string): string {
  return value === null ? '–' : text(value);
}
