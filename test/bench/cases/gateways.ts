import type { TeamGateway } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import type { Row } from '../report.ts';
import { SharedTeam } from '../shared-team.ts';
import { spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';
import { deliveryScript, load, type Load } from '../wrk.ts';

const SECRET = 'a secret shared with the sender';
const CONNECTIONS = 64;
const PROJECTS = [1, 100];
const QUICK_PROJECTS = [1, 50];
const ROUND_TRIPS_MS = [0, 2, 10];
const WARM_UP_SECONDS = 2;
const SECONDS = 3;

/** One gateway with the projects that a load balancer would hand to it. */
interface Side {
  readonly gateway: TeamGateway;
  /** Of the hooks of its projects. */
  readonly paths: readonly string[];
  readonly script: string;
}

interface Run {
  readonly sides: readonly Side[];
  readonly wrk: string;
  readonly seconds: number;
}

/**
 * Verified deliveries made durable on a libSQL server: how many, and how long the slowest of a hundred takes, by the number
 * of projects and of gateways, and by how far away the server is. The generator stands where a load balancer would: each
 * project's deliveries go to one gateway.
 */
export const gateways: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  const what = 'deliveries over gateways, projects and distances to the store';
  if (!wrk) return [{ bench: 'gateways', what, skipped: missing('wrk') }];
  const rows: Row[] = [];
  for (const count of bench.quick ? QUICK_PROJECTS : PROJECTS) {
    const team = await SharedTeam.start(bench, count, SECRET);
    const running: TeamGateway[] = [];
    while (running.length < 2) {
      running.push(await team.gateway());
      const all = running.map((gateway, index): Side => {
        const paths = team.hooks.filter((_, number) => number % running.length === index);
        const script = deliveryScript(bench.workshop.place('load'), SECRET, paths);
        return { gateway, paths, script };
      });
      // One project is one gateway's: the other one runs, and has nothing to do.
      const sides = all.filter(({ paths }) => paths.length > 0);
      for (const { gateway, paths } of sides) await team.visit(gateway, paths);
      rows.push(
        ...(await overDistances(bench, team, { sides, running: running.length, wrk, count })),
      );
    }
    for (const gateway of running) await gateway.end();
  }
  return rows;
};

async function overDistances(
  bench: Bench,
  team: SharedTeam,
  {
    sides,
    running,
    wrk,
    count,
  }: { sides: readonly Side[]; running: number; wrk: string; count: number },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const roundTripMs of ROUND_TRIPS_MS) {
    team.roundTripMs = roundTripMs;
    const name = `${counted(running, 'gateway')}, ${counted(count, 'project')}, ${roundTripMs} ms`;
    bench.progress(name);
    const runs = await rounds({ sides, wrk, seconds: SECONDS }, bench.rounds);
    if (runs instanceof Error) {
      bench.progress(`${name}: ${runs.message}`);
      rows.push({ bench: 'gateways', what: name, skipped: runs.message.split('\n')[0] ?? '' });
      continue;
    }
    const samples = [
      runs.map(({ perSecond }) => perSecond),
      runs.map(({ p50Ms }) => p50Ms),
      runs.map(({ p99Ms }) => p99Ms),
    ];
    bench.progress(`${name}: ${samples.map(medianText).join(', ')}`);
    rows.push(
      row(
        `${name}, deliveries`,
        '/s',
        runs.map(({ perSecond }) => perSecond),
      ),
      row(
        `${name}, p50`,
        'ms',
        runs.map(({ p50Ms }) => p50Ms),
      ),
      row(
        `${name}, p99`,
        'ms',
        runs.map(({ p99Ms }) => p99Ms),
      ),
    );
  }
  team.roundTripMs = 0;
  return rows;
}

/** An error where not every answer was a success. */
async function rounds(run: Run, count: number): Promise<Load[] | Error> {
  const loads: Load[] = [];
  try {
    await runOnce({ ...run, seconds: WARM_UP_SECONDS });
    for (let round = 0; round < count; round += 1) loads.push(await runOnce(run));
    return loads;
  } catch (error) {
    return error as Error;
  }
}

function medianText(samples: readonly number[]): string {
  const { median, min, max } = spread(samples);
  return `${Math.round(median)} (${Math.round(min)}–${Math.round(max)})`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function row(what: string, unit: string, samples: readonly number[]): Row {
  return { bench: 'gateways', what, value: { unit, spread: spread(samples) } };
}

let runs = 0;

/** All sides at once. */
async function runOnce({ sides, wrk, seconds }: Run): Promise<Load> {
  runs += 1;
  const loads = await Promise.all(
    sides.map(({ gateway, script }, side) =>
      load({
        wrk,
        script,
        url: gateway.url,
        connections: CONNECTIONS / sides.length,
        seconds,
        args: [String(runs * 30_000), `run-${runs}-${side}`],
      }),
    ),
  );
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...loads.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...loads.map(({ p99Ms }) => p99Ms)),
  };
}
