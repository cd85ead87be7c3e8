import { writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import type { Spread } from './stats.ts';

interface Figure {
  readonly unit: string;
  readonly spread: Spread;
}

/** What a figure should be; `of` tells whether the ratio or the value itself is held to it. */
interface Target {
  readonly of: 'ratio' | 'value';
  readonly op: '>=' | '<=';
  readonly limit: number;
  readonly stretch?: number;
}

/** One line of the table. Without a target it informs only. */
export interface Row {
  readonly bench: string;
  readonly what: string;
  readonly value?: Figure;
  readonly baseline?: Figure & { readonly name: string };
  readonly ratio?: Spread;
  readonly target?: Target;
  /** Why nothing was measured. */
  readonly skipped?: string;
  readonly note?: string;
}

/** A row with whether it meets its target: null where there is no target or no figure. */
export type JudgedRow = Row & { readonly ok: boolean | null };

export function judged(row: Row): JudgedRow {
  return { ...row, ok: meets(row) };
}

/** Null where there is no target or no figure. */
function meets(row: Row): boolean | null {
  const { target } = row;
  const held = target?.of === 'ratio' ? row.ratio : row.value?.spread;
  if (!target || !held) return null;
  return target.op === '>=' ? held.median >= target.limit : held.median <= target.limit;
}

export function markdown(rows: readonly Row[]): string {
  const lines = [
    '| bench | measure | value | baseline | ratio | target | |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(line),
  ];
  const notes = rows.filter((row) => row.note !== undefined);
  if (notes.length > 0) lines.push('', ...notes.map((row) => `- ${row.what}: ${row.note}`));
  return lines.join('\n');
}

function line(row: Row): string {
  const { value, baseline, ratio } = row;
  const cells = row.skipped
    ? [row.bench, row.what, `skipped: ${row.skipped}`, '', '', targetText(row.target), '–']
    : [
        row.bench,
        row.what,
        value ? figureText(value) : '',
        baseline ? `${figureText(baseline)} ${baseline.name}` : '',
        ratio ? `**${short(ratio.median)}** (${short(ratio.min)}–${short(ratio.max)})` : '',
        targetText(row.target),
        mark(meets(row)),
      ];
  return `| ${cells.join(' | ')} |`;
}

function mark(good: boolean | null): string {
  if (good === null) return '';
  return good ? '✓' : '✗';
}

function figureText({ spread, unit }: Figure): string {
  const range = spread.rounds > 1 ? ` (${short(spread.min)}–${short(spread.max)})` : '';
  return `${short(spread.median)} ${unit}${range}`;
}

function targetText(target: Target | undefined): string {
  if (!target) return '';
  const sign = target.op === '>=' ? '≥' : '≤';
  const stretch = target.stretch === undefined ? '' : ` (stretch ${target.stretch})`;
  const what = target.of === 'ratio' ? 'ratio' : 'value';
  return `${what} ${sign} ${target.limit}${stretch}`;
}

function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value));
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** One line on where it ran: figures of two machines do not compare, ratios nearly do. */
export function machine(): string {
  const [cpu] = cpus();
  return `node ${process.version}, Linux ${release()}, ${cpus().length} × ${cpu?.model ?? 'unknown CPU'}`;
}

export function writeJson(path: string, rows: readonly Row[], quick: boolean): void {
  const report = {
    at: new Date().toISOString(),
    machine: machine(),
    quick,
    rows: rows.map(judged),
  };
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}
