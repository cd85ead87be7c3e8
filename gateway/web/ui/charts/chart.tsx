import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { barsPath, HEIGHT, linePath, scaleEnd, STEP, type Values } from './draw.ts';

/** The colors of series. The legend names each, so that nobody has to tell them apart by color alone. */
export type Ink = 'c1' | 'c2' | 'c3' | 'c4' | 'c5' | 'good' | 'warn' | 'bad';

export interface Series {
  /** How the legend names it. */
  readonly name: Child;
  readonly ink: Ink;
  readonly values: Values;
  /** The whole span in one number. */
  readonly sum: string;
}

interface ChartProps {
  readonly id: string;
  readonly title: string;
  /** What to read first. */
  readonly headline?: Child;
  readonly kind: 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly text: (value: number) => string;
  /** Rounds up to the end of the scale. */
  readonly scale?: (max: number) => number;
  /** The times below the picture, from left to right. */
  readonly times: readonly Child[];
  /** Shown in place of a picture without any value. */
  readonly nothing: string;
  /** The same as a table. */
  readonly children?: Child;
}

/** A picture of values over time as inline SVG, with a legend, and with its numbers in a table. */
export function Chart(props: ChartProps): JSX.Element {
  const { id, title, headline, series, nothing, children } = props;
  const isEmpty = series.every(({ values }) => values.every((value) => (value ?? 0) === 0));
  return (
    <section class="chart card" aria-labelledby={id}>
      <div class="line">
        <h2 id={id}>{title}</h2>
        {headline !== undefined && <span class="headline">{headline}</span>}
      </div>
      {isEmpty ? (
        <p class="soft empty">{nothing}</p>
      ) : (
        <>
          <Picture {...props} />
          <ul class="legend">
            {series.map(({ name, ink, sum }) => (
              <li>
                <svg class="ink" viewBox="0 0 1 1" aria-hidden="true" focusable="false">
                  <rect class={ink} width="1" height="1" />
                </svg>
                {name} <strong>{sum}</strong>
              </li>
            ))}
          </ul>
          <details class="numbers">
            <summary>
              Numbers<span class="unseen">: {title}</span>
            </summary>
            {children}
          </details>
        </>
      )}
    </section>
  );
}

/** Hidden from screen readers, which read the legend and the table. */
function Picture({ kind, series, text, scale = scaleEnd, times }: ChartProps): JSX.Element {
  const end = scale(kind === 'bars' ? highestStack(series) : highest(series));
  const width = STEP * Math.max(...series.map(({ values }) => values.length));
  return (
    <div class="plot" aria-hidden="true">
      <span class="peak">{text(end)}</span>
      <svg
        class={kind}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        focusable="false"
      >
        <path class="grid" d={`M0 0H${width}M0 ${HEIGHT / 2}H${width}M0 ${HEIGHT}H${width}`} />
        {kind === 'bars' ? <Bars series={series} end={end} /> : <Lines series={series} end={end} />}
      </svg>
      <p class="times">
        {times.map((time) => (
          <span>{time}</span>
        ))}
      </p>
    </div>
  );
}

interface PlotProps {
  readonly series: readonly Series[];
  readonly end: number;
}

function Bars({ series, end }: PlotProps): JSX.Element {
  let below: readonly number[] = [];
  const paths = series.map(({ ink, values }) => {
    const { path, tops } = barsPath(values, below, end);
    below = tops;
    return <path class={ink} d={path} />;
  });
  return <>{paths}</>;
}

function Lines({ series, end }: PlotProps): JSX.Element {
  return (
    <>
      {series.map(({ ink, values }) => (
        <path class={ink} d={linePath(values, end)} />
      ))}
    </>
  );
}

function highest(series: readonly Series[]): number {
  return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
}

function highestStack(series: readonly Series[]): number {
  const stacks = (series[0]?.values ?? []).map((_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  return Math.max(0, ...stacks);
}
