import { writeFileSync } from 'node:fs';
import type { Row } from './report.ts';

/** A combination of the bench `gateways`, and what came of it. */
interface Point {
  readonly gateways: number;
  readonly projects: number;
  readonly roundTripMs: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

const WIDTH = 720;
const PANEL = { top: 48, height: 220, left: 64, width: 270, gap: 80 };
const COLORS = ['#1b6ca8', '#c2571a', '#3f7d20'];

/** Draws throughput and the slowest of a hundred over the distance to the store, a line for each number of projects. */
export function drawScaling(rows: readonly Row[], path: string): void {
  const points = pointsOf(rows);
  if (points.length === 0) return;
  const panels = [
    panel(points, { title: 'deliveries a second', x: PANEL.left, of: (point) => point.perSecond }),
    panel(points, {
      title: 'p99, ms',
      x: PANEL.left + PANEL.width + PANEL.gap,
      of: (point) => point.p99Ms,
    }),
  ];
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="370" viewBox="0 0 ${WIDTH} 370" font-family="sans-serif" font-size="12" role="img">`,
    '<title>Deliveries a second and p99 by the distance to the store</title>',
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...panels,
    legend(points),
    '</svg>',
  ];
  writeFileSync(path, `${svg.join('\n')}\n`);
}

function pointsOf(rows: readonly Row[]): Point[] {
  const found = new Map<string, Record<string, number>>();
  for (const { what, value } of rows) {
    const [name, measure] = splitLast(what);
    found.set(name, { ...found.get(name), [measure]: value?.spread.median ?? Number.NaN });
  }
  return [...found].flatMap(([name, values]) => {
    const match = /^(\d+) gateways?, (\d+) projects?, (\d+) ms$/.exec(name);
    if (!match) return [];
    const [gateways = 0, projects = 0, roundTripMs = 0] = match.slice(1).map(Number);
    const { deliveries: perSecond = 0, p99: p99Ms = 0 } = values;
    return [{ gateways, projects, roundTripMs, perSecond, p99Ms }];
  });
}

function splitLast(what: string): [name: string, measure: string] {
  const at = what.lastIndexOf(', ');
  return [what.slice(0, at), what.slice(at + 2)];
}

interface PanelWanted {
  readonly title: string;
  readonly x: number;
  readonly of: (point: Point) => number;
}

function panel(points: readonly Point[], { title, x, of }: PanelWanted): string {
  const { top, height, width } = PANEL;
  const maxX = Math.max(...points.map(({ roundTripMs }) => roundTripMs));
  const maxY = niceMax(Math.max(...points.map(of)));
  const place = (point: Point): string =>
    `${Math.round(x + (point.roundTripMs / maxX) * width)},${Math.round(top + height - (of(point) / maxY) * height)}`;
  const lines = seriesOf(points).map(
    ({ members, color, dash }) =>
      `<polyline fill="none" stroke="${color}" stroke-width="2"${dash} points="${members.map(place).join(' ')}"/>`,
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = top + height * (1 - share);
    return (
      `<line x1="${x}" x2="${x + width}" y1="${y}" y2="${y}" stroke="#ddd"/>` +
      `<text x="${x - 6}" y="${y + 4}" text-anchor="end">${(maxY * share).toLocaleString('en')}</text>`
    );
  });
  const distances = [...new Set(points.map(({ roundTripMs }) => roundTripMs))].map(
    (ms) =>
      `<text x="${x + (ms / maxX) * width}" y="${top + height + 18}" text-anchor="middle">${ms} ms</text>`,
  );
  const name = `<text x="${x}" y="${top - 14}" font-weight="bold">${title}</text>`;
  return [name, ...ticks, ...distances, ...lines].join('\n');
}

interface Series {
  readonly members: readonly Point[];
  readonly color: string;
  readonly dash: string;
  readonly label: string;
}

/** One gateway is drawn through, two are dashed. */
function seriesOf(points: readonly Point[]): Series[] {
  const projects = [...new Set(points.map((point) => point.projects))];
  const gateways = [...new Set(points.map((point) => point.gateways))];
  return gateways.flatMap((count) =>
    projects.map((number, index) => ({
      members: points
        .filter((point) => point.gateways === count && point.projects === number)
        .toSorted((one, other) => one.roundTripMs - other.roundTripMs),
      color: COLORS[index % COLORS.length] ?? '#000',
      dash: count === 1 ? '' : ' stroke-dasharray="6 4"',
      label: `${number.toLocaleString('en')} ${number === 1 ? 'project' : 'projects'}, ${count} ${count === 1 ? 'gateway' : 'gateways'}`,
    })),
  );
}

function legend(points: readonly Point[]): string {
  return seriesOf(points)
    .map(({ color, dash, label }, index) => {
      const x = PANEL.left + (index % 3) * 205;
      const y = PANEL.top + PANEL.height + 48 + Math.floor(index / 3) * 20;
      return (
        `<line x1="${x}" x2="${x + 26}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="2"${dash}/>` +
        `<text x="${x + 32}" y="${y}">${label}</text>`
      );
    })
    .join('\n');
}

/** 1, 2 or 5 times a power of ten. */
function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
