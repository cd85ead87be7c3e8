import type { JudgedRow, Row } from '../bench/report.ts';
import type { Results } from '../bench/results.ts';

/** Aligned as the formatter does it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function rowsOf(results: Results, bench: string): readonly JudgedRow[] {
  return results[bench]?.rows ?? [];
}

/** The first row of a bench whose text or baseline has these words. Throws where the bench has no such row. */
export function only(results: Results, bench: string, words = ''): JudgedRow {
  const found = rowsOf(results, bench).find(({ what, baseline }) =>
    `${what} ${baseline?.name ?? ''}`.includes(words),
  );
  if (!found) throw new Error(`Run \`npm run bench -- ${bench} --record\`: no row has "${words}".`);
  return found;
}

/** The median of that row. */
export function median(results: Results, bench: string, words?: string): number {
  return only(results, bench, words).value?.spread.median ?? Number.NaN;
}

export function amount({ spread, unit }: NonNullable<Row['value']>): string {
  return `${short(spread.median)} ${unit}`;
}

/** Three digits at most, except in front of the point. */
export function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Two digits: enough to plan with. */
export function rough(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.round(value / unit) * unit;
}

export function thousands(value: number): string {
  return value.toLocaleString('en');
}
