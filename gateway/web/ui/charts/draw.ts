/** The drawing area, in units that the browser stretches to the width of the page. */
export const HEIGHT = 100;
export const STEP = 10;
const GAP = 1;

/** A value for each step; null where there is none. */
export type Values = readonly (number | null)[];

const ROUND = [1, 2, 3, 4, 6, 8, 10];
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000] as const;
const ROUND_TIMES = [
  ...[SECOND, MINUTE].flatMap((unit) => [1, 2, 4, 6, 10, 20, 30, 40].map((n) => n * unit)),
  ...[1, 2, 4, 6, 8, 12, 16].map((n) => n * HOUR),
  ...[1, 2, 3, 4, 6, 8, 10, 14, 20, 30].map((n) => n * DAY),
];

/** The end of a scale: a round number, so that its label is short. */
export function scaleEnd(max: number): number {
  if (max <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  return (ROUND.find((one) => one * power >= max) ?? 10) * power;
}

/** The same for durations in milliseconds. */
export function timeScaleEnd(max: number): number {
  return max < SECOND ? scaleEnd(max) : (ROUND_TIMES.find((end) => end >= max) ?? max);
}

/** The same for bytes. */
export function bytesScaleEnd(max: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, max)));
}

/** The path of one series of bars, each on top of what `below` says, and the heights it reaches. */
export function barsPath(
  values: Values,
  below: readonly number[],
  end: number,
): { readonly path: string; readonly tops: number[] } {
  let path = '';
  const tops = values.map((value, index) => {
    const from = below[index] ?? 0;
    if (value === null || value <= 0) return from;
    const [bottom, height] = [HEIGHT - scaled(from, end), scaled(value, end)];
    const width = STEP - 2 * GAP;
    path += `M${index * STEP + GAP} ${short(bottom)}v-${short(height)}h${width}v${short(height)}z`;
    return from + value;
  });
  return { path, tops };
}

/** The path of a line. A gap ends it; a value between two gaps becomes a dash. */
export function linePath(values: Values, end: number): string {
  let path = '';
  values.forEach((value, index) => {
    if (value === null) return;
    const [x, y] = [index * STEP + STEP / 2, short(HEIGHT - scaled(value, end))];
    const before = values[index - 1] ?? null;
    const after = values[index + 1] ?? null;
    if (before === null && after === null) path += `M${x - STEP / 2} ${y}h${STEP}`;
    else path += `${before === null ? 'M' : 'L'}${x} ${y}`;
  });
  return path;
}

function scaled(value: number, end: number): number {
  return (value / end) * HEIGHT;
}

function short(amount: number): string {
  return String(Math.round(amount * 10) / 10);
}
