import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Ink, Series } from '../../../ui/charts/chart.tsx';
import { timeScaleEnd } from '../../../ui/charts/draw.ts';
import { digitsOf } from '../../../ui/number.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../ui/time.ts';
import type { Activity } from './activity-queries.ts';
import {
  durationText,
  orDash,
  OverviewChart,
  sumColumn,
  sumOf,
  type ChartInput,
} from './overview-chart.tsx';

const INKS: readonly Ink[] = ['c1', 'c2', 'c3', 'c4'];
const MINUTE_MS = 60_000;

interface CountRow {
  /** How a table names it. */
  readonly title: string;
  readonly name: Child;
  readonly values: readonly number[];
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The largest ones, and the sum of all others. */
function largest(all: readonly CountRow[]): CountRow[] {
  const sorted = all.toSorted((a, b) => total(b.values) - total(a.values));
  const [first, rest] = [sorted.slice(0, INKS.length), sorted.slice(INKS.length)];
  if (rest.length === 0) return first;
  const values = (rest[0]?.values ?? []).map((_, step) =>
    rest.reduce((sum, one) => sum + (one.values[step] ?? 0), 0),
  );
  const title = `${rest.length} others`;
  return [...first, { title, name: title, values }];
}

function seriesOf(counted: readonly CountRow[]): Series[] {
  return counted.map(({ name, values }, index) => ({
    name,
    ink: INKS[index] ?? 'c5',
    values,
    sum: digitsOf(total(values)),
  }));
}

/** How many events come in, by source. */
export function ReceivedChart({ context, activity }: ChartInput): JSX.Element {
  const sources = largest(
    activity.names('received').map((source) => ({
      title: source,
      name: <AgentText text={source} reading="exact" />,
      values: activity.counts('received', source),
    })),
  );
  const all = sources.reduce((sum, { values }) => sum + total(values), 0);
  return (
    <OverviewChart
      context={context}
      activity={activity}
      id="received"
      title="Events received"
      headline={`${rateText(all, activity)} a minute on average`}
      kind="bars"
      series={seriesOf(sources)}
      nothing="No events in this time."
      columns={sources.map(({ title, values }) => sumColumn(title, values))}
    />
  );
}

function rateText(count: number, { span }: Activity): string {
  const perMinute = count / ((span.stepMs * span.points) / MINUTE_MS);
  return perMinute > 0 && perMinute < 0.1 ? '< 0.1' : digitsOf(Math.round(perMinute * 10) / 10);
}

function lineOf(name: string, ink: Ink, values: readonly number[]): Series {
  return { name, ink, values, sum: digitsOf(total(values)) };
}

/** How events ended, and the attempts that failed. */
export function EndedChart({ context, activity }: ChartInput): JSX.Element {
  const [done, dead] = [activity.counts('ended', 'done'), activity.counts('ended', 'dead')];
  const failed = activity.counts('failed');
  return (
    <OverviewChart
      context={context}
      activity={activity}
      id="ended"
      title="Done, failed, dead"
      kind="bars"
      series={[
        lineOf('Done', 'good', done),
        lineOf('Failed attempts', 'warn', failed),
        lineOf('Dead', 'bad', dead),
      ]}
      nothing="Nothing was finished in this time."
      columns={[
        sumColumn('Done', done),
        sumColumn('Failed attempts', failed),
        sumColumn('Dead', dead),
      ]}
    />
  );
}

/** How long the oldest pending event has waited, at the end of each step. */
export function OldestChart({ context, activity }: ChartInput): JSX.Element {
  const { now } = context;
  const ages = activity.gauges('oldest').map((receivedAt, step) => {
    if (receivedAt === null) return null;
    const at = Math.min(now, activity.beginOf(step + 1));
    return receivedAt === 0 ? 0 : Math.max(0, at - receivedAt);
  });
  const last = ages.at(-1) ?? 0;
  return (
    <OverviewChart
      context={context}
      activity={activity}
      id="oldest"
      title="Age of the oldest pending event"
      headline={last > 0 ? `now ${lengthOfTime(last)}` : 'nothing pending'}
      kind="lines"
      series={[{ name: 'Age', ink: 'c1', values: ages, sum: durationText(last) }]}
      text={durationText}
      scale={timeScaleEnd}
      nothing="No event waited in this time."
      columns={[
        { title: 'Age', numeric: true, cell: ({ to }) => orDash(ages[to] ?? null, durationText) },
      ]}
    />
  );
}

/** Finished pushes, by route. */
export function PushChart({ context, activity }: ChartInput): JSX.Element {
  const names = activity.names('push');
  const routes = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const delivered = largest(
    routes.map((route) => ({
      title: route === 'callback' ? 'Callbacks of requests' : route,
      name: route === 'callback' ? 'Callbacks of requests' : <RouteLink {...{ context, route }} />,
      values: activity.counts('push', `${route} delivered`),
    })),
  );
  const dead = names.filter((name) => name.endsWith(' dead'));
  const deadCounts = activity
    .counts('push')
    .map((_, step) =>
      dead.reduce((sum, name) => sum + (activity.counts('push', name)[step] ?? 0), 0),
    );
  const gaveUp = lineOf('Given up', 'bad', deadCounts);
  return (
    <OverviewChart
      context={context}
      activity={activity}
      id="pushes"
      title="Pushes by route"
      kind="bars"
      series={[...seriesOf(delivered), gaveUp]}
      nothing="No pushes in this time."
      columns={[
        ...delivered.map(({ title, values }) => sumColumn(title, values)),
        {
          title: 'Given up',
          numeric: true,
          cell: (slice) => digitsOf(sumOf(deadCounts, slice)),
        },
      ]}
    />
  );
}

function RouteLink({
  context,
  route,
}: Pick<ChartInput, 'context'> & { readonly route: string }): JSX.Element {
  return (
    <a class="mono" href={context.at('routes', route)}>
      {route}
    </a>
  );
}
