import { readFileSync, writeFileSync } from 'node:fs';
import type { JudgedRow } from '../bench/report.ts';
import { readResults, type Results } from '../bench/results.ts';
import { costTable, estimate, oneGateway } from './figures-capacity.ts';
import { amount, only, rowsOf, table } from './figures-table.ts';

/** The pages that show measured figures. They show none outside a block. */
export const FIGURE_PAGES = ['docs/speed.md', 'docs/capacity.md'];

type Block = (results: Results) => string;

/** What stands between `<!-- figures: NAME -->` and `<!-- /figures -->`. */
const BLOCKS: Readonly<Record<string, Block>> = {
  headline,
  all: everything,
  'long histories': histories,
  'one gateway': oneGateway,
  estimate,
  scaling,
  cost: costTable,
};

const BLOCK = /(<!-- figures: ([a-z ]+) -->\n)[\s\S]*?(<!-- \/figures -->)/g;

/** The page with its blocks as the results have them. Throws for a block that there isn't. */
export function withFigures(page: string, results: Results): string {
  return page.replaceAll(BLOCK, (_, open: string, name: string, close: string) => {
    const block = BLOCKS[name];
    if (!block) throw new Error(`There is no block of figures called ${name}.`);
    return `${open}\n${block(results)}\n\n${measured(results)}\n\n${close}`;
  });
}

/** When and where the figures were taken, in one line. */
function measured(results: Results): string {
  const all = Object.values(results);
  const days = [...new Set(all.map(({ at }) => at.slice(0, 10)))].toSorted();
  const machines = [...new Set(all.map(({ machine }) => machine))];
  const rounds = all.some(({ quick }) => quick) ? ', in short rounds' : '';
  return `Measured on ${days.join(' and ')} (${machines.join('; ')})${rounds}.`;
}

export function withoutFigures(page: string): string {
  return page.replaceAll(BLOCK, '');
}

export function writeFigures(): void {
  const results = readResults();
  for (const path of FIGURE_PAGES) {
    writeFileSync(path, withFigures(readFileSync(path, 'utf8'), results));
  }
}

const HEAD = ['what', 'here', 'compared with', 'ratio'];

function headline(results: Results): string {
  const shown = [
    only(results, 'ingest', 'a commit each'),
    only(results, 'ingest', 'without a database'),
    only(results, 'claim'),
    only(results, 'wake', 'to the answer of a wait, p50'),
    only(results, 'kv', 'a hono hello'),
    only(results, 'start', 'svc inbox list'),
    only(results, 'idle', 'resident memory'),
  ];
  return table(
    HEAD,
    shown.map((row) => cells(row).slice(0, HEAD.length)),
  );
}

/** Benches with a block of their own. */
const APART = new Set(['history', 'gateways']);

function everything(results: Results): string {
  const rows = Object.entries(results).flatMap(([bench, result]) =>
    APART.has(bench) ? [] : result.rows,
  );
  return table([...HEAD, 'aim'], rows.map(cells));
}

function histories(results: Results): string {
  return table([...HEAD, 'aim'], rowsOf(results, 'history').map(cells));
}

function cells(row: JudgedRow): string[] {
  if (row.skipped !== undefined) return [row.what, `not measured: ${row.skipped}`, '', '', ''];
  const { value, baseline, ratio, target } = row;
  const aim = target ? `${target.op === '>=' ? '≥' : '≤'} ${target.limit}` : '';
  const unit = target?.of === 'value' && value ? ` ${value.unit}` : '';
  return [
    row.what,
    value ? amount(value) : '',
    baseline ? `${amount(baseline)}, ${baseline.name}` : '',
    ratio ? `**${ratio.median.toFixed(2)}** (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})` : '',
    target ? `${aim}${unit}${row.ok === false ? ', missed' : ''}` : '',
  ];
}

const SCALING = /^(\d+ gateways?), (\d+) projects?, (\d+) ms, (deliveries|p50|p99)$/;

/** What that many gateways did in one line. */
function side(own: Record<string, string>, gateways: string): string[] {
  return [
    own[`${gateways} deliveries`] ?? 'failed',
    `${own[`${gateways} p50`] ?? '–'}, ${own[`${gateways} p99`] ?? '–'}`,
  ];
}

/** A line for each number of projects and distance to the store; gateways side by side. */
function scaling(results: Results): string {
  const lines = new Map<string, Record<string, string>>();
  for (const { what, value } of rowsOf(results, 'gateways')) {
    const [, gateways = '', projects = '', distance = '', measure = ''] = SCALING.exec(what) ?? [];
    if (gateways === '' || !value) continue;
    const { median, min, max } = value.spread;
    const own = lines.get(`${projects} ${distance}`) ?? {};
    const range = measure === 'deliveries' ? ` (${whole(min)}–${whole(max)})` : '';
    own[`${gateways} ${measure}`] = `${whole(median)}${range}`;
    lines.set(`${projects} ${distance}`, own);
  }
  return table(
    ['projects', 'round trip', '1 gateway, /s', 'p50, p99 ms', '2 gateways, /s', 'p50, p99 ms'],
    [...lines].map(([key, own]) => {
      const [projects = '', distance = ''] = key.split(' ');
      const count = whole(Number(projects));
      return [count, `${distance} ms`, ...side(own, '1 gateway'), ...side(own, '2 gateways')];
    }),
  );
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
