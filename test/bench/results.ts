import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { judged, machine, type JudgedRow, type Row } from './report.ts';

/** The latest run of one bench, with where and when it ran. */
interface BenchResult {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly machine: string;
  /** Fewer and shorter rounds than usual. */
  readonly quick: boolean;
  readonly rows: readonly JudgedRow[];
}

/** By the names of benches. */
export type Results = Readonly<Record<string, BenchResult>>;

/** Every figure in docs comes from this file. */
const RESULTS_FILE = 'docs/figures.json';

export function readResults(): Results {
  if (!existsSync(RESULTS_FILE)) return {};
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results;
}

/** Replaces the benches that ran and keeps the others as they were. */
export function recordResults(rows: readonly Row[], quick: boolean): void {
  const at = new Date().toISOString();
  const ran = [...new Set(rows.map(({ bench }) => bench))];
  const fresh = ran.map((name): [string, BenchResult] => [
    name,
    { at, machine: machine(), quick, rows: rows.filter(({ bench }) => bench === name).map(judged) },
  ]);
  const all = { ...readResults(), ...Object.fromEntries(fresh) };
  writeFileSync(RESULTS_FILE, `${JSON.stringify(all, null, 2)}\n`);
}
