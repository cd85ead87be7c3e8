import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Ink, Series } from '../../../ui/charts/chart.tsx';
import { bytesScaleEnd, timeScaleEnd } from '../../../ui/charts/draw.ts';
import { digitsOf } from '../../../ui/number.ts';
import type { Activity } from './activity-queries.ts';
import { bytesText } from '../../../ui/bytes-text.ts';
import type { Column } from '../../../ui/parts.tsx';
import {
  durationText,
  orDash,
  OverviewChart,
  sumColumn,
  sumOf,
  type ChartInput,
  type Slice,
} from './overview-chart.tsx';

type TimeKind = 'wait' | 'work' | 'decision';

/** Two lines for the times of one kind. */
function timesOf(
  activity: Activity,
  kind: TimeKind,
  { name, inks }: { readonly name: string; readonly inks: readonly [Ink, Ink] },
): Series[] {
  const [steps, all] = [activity.percentiles(kind), activity.percentilesOf(kind)];
  return [
    {
      name: `${name}, half within`,
      ink: inks[0],
      values: steps.map(({ p50 }) => p50),
      sum: orDash(all.p50, durationText),
    },
    {
      name: `${name}, 95 % within`,
      ink: inks[1],
      values: steps.map(({ p95 }) => p95),
      sum: orDash(all.p95, durationText),
    },
  ];
}

function timeColumns(activity: Activity, kind: TimeKind, name: string): Column<Slice>[] {
  const of = ({ from, to }: Slice) => activity.percentilesOf(kind, from, to);
  return [
    {
      title: `${name} p50`,
      numeric: true,
      cell: (slice) => orDash(of(slice).p50, durationText),
    },
    {
      title: `${name} p95`,
      numeric: true,
      cell: (slice) => orDash(of(slice).p95, durationText),
    },
  ];
}

/** How long events wait for an agent, and how long agents take. */
export function TimesChart(shown: ChartInput): JSX.Element {
  const { activity } = shown;
  return (
    <OverviewChart
      {...shown}
      id="times"
      title="From receipt to claim to done"
      kind="lines"
      series={[
        ...timesOf(activity, 'wait', { name: 'Claimed', inks: ['c1', 'c2'] }),
        ...timesOf(activity, 'work', { name: 'Done', inks: ['c3', 'c4'] }),
      ]}
      text={durationText}
      scale={timeScaleEnd}
      nothing="Agents finished nothing in this time."
      columns={[
        ...timeColumns(activity, 'wait', 'Claimed'),
        ...timeColumns(activity, 'work', 'Done'),
      ]}
    />
  );
}

/** How long people take to decide. */
export function DecisionChart(shown: ChartInput): JSX.Element {
  return (
    <OverviewChart
      {...shown}
      id="decisions"
      title="Time to a decision"
      kind="lines"
      series={timesOf(shown.activity, 'decision', { name: 'Decided', inks: ['c1', 'c2'] })}
      text={durationText}
      scale={timeScaleEnd}
      nothing="Nobody decided anything in this time."
      columns={timeColumns(shown.activity, 'decision', 'Decided')}
    />
  );
}

/** What became of agents' mail. */
export function MailChart(shown: ChartInput): JSX.Element {
  const of = (name: string) => shown.activity.counts('mail', name);
  const results = [
    { name: 'Sent', ink: 'good', values: of('sent') },
    { name: 'Failed', ink: 'warn', values: of('failed') },
    { name: 'Bounced', ink: 'bad', values: of('bounced') },
  ] as const;
  const whole = { from: 0, to: shown.activity.span.points - 1 };
  return (
    <OverviewChart
      {...shown}
      id="mail"
      title="Mail sent and bounced"
      kind="bars"
      series={results.map((one) => ({ ...one, sum: digitsOf(sumOf(one.values, whole)) }))}
      nothing="No mail in this time."
      columns={results.map(({ name, values }) => sumColumn(name, values))}
    />
  );
}

/** How much the disk holds. */
export function DiskChart(shown: ChartInput): JSX.Element {
  const values = shown.activity.gauges('disk');
  const last = values.at(-1) ?? 0;
  return (
    <OverviewChart
      {...shown}
      id="disk"
      title="Disk used"
      kind="lines"
      series={[{ name: 'Keys and files', ink: 'c1', values, sum: bytesText(last) }]}
      text={bytesText}
      scale={bytesScaleEnd}
      nothing="The disk is empty."
      columns={[
        { title: 'Used', numeric: true, cell: ({ to }) => orDash(values[to] ?? null, bytesText) },
      ]}
    />
  );
}
