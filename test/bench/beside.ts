import type { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { Answers, Flood, Listening } from './child/flooder.ts';
import type { Child } from './children.ts';
import { floodsIn, type FloodCase } from './floods.ts';
import { call, type Answer } from './http.ts';
import { residentBytes } from './processor.ts';
import type { Row } from './report.ts';
import { quantile, ratios, spread } from './stats.ts';

/** Between two calls of the neighbour. */
const PAUSE_MS = 5;
/** A flood has this long to reach its strength. */
const BEFORE_MS = 300;
/** The bar: as many times the control's p99, and nothing that's below this. */
const TIMES = 3;
const ALLOWED_MS = 100;

/** One of two servers: somebody floods one of them, and a neighbour calls both. */
export interface Visited {
  readonly to: Listening;
  /** The process that answers. */
  readonly pid: number;
  /** Of the neighbour: its key, and its name where it has one. */
  readonly headers: Readonly<Record<string, string>>;
  /** The neighbour's connections: those that stay open, and one for each call. */
  readonly agent: Agent;
  readonly fresh: Agent;
}

interface Sites {
  readonly flooded: Visited;
  /** Nobody floods it. */
  readonly control: Visited;
  readonly flooder: Child;
  /** The address from which a flood comes, unless it says so itself. */
  readonly from?: () => string;
}

interface Tails {
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** What a neighbour sees while somebody floods; `who` is the neighbour. */
export async function measureBeside(
  { rounds, seconds, progress }: Bench,
  { flooded, control, flooder, from }: Sites,
  { name, mostMs = ALLOWED_MS, ...sent }: FloodCase,
  who: string,
): Promise<Row> {
  const beside: Tails[] = [];
  const alone: Tails[] = [];
  let answers: Answers[] = [];
  let memory = 0;
  for (let round = 0; round < rounds; round += 1) {
    const floods = await floodsIn(sent);
    const until = performance.now() + seconds * 1000;
    const flooding = floods.map((flood) => {
      const whole: Flood = {
        ...(from && { from: from() }),
        ...flood,
        to: flooded.to,
        seconds: seconds + BEFORE_MS / 1000,
      };
      return flooder.call<Answers>('flood', whole);
    });
    const working = sent.work && overAndOver(sent.work, until);
    await sleep(BEFORE_MS);
    const [hit, calm] = await Promise.all([visit(flooded, until), visit(control, until)]);
    beside.push(hit);
    alone.push(calm);
    answers = await Promise.all(flooding);
    await working;
    memory = Math.max(memory, residentBytes(flooded.pid));
    await sleep(BEFORE_MS);
  }
  const p99 = beside.map((one) => one.p99);
  const calm = alone.map((one) => one.p99);
  const failed = beside.reduce((sum, one) => sum + one.failed, 0);
  const allowed = Math.max(mostMs, TIMES * spread(calm).median);
  const megabytes = Math.round(memory / 1e6);
  progress(
    `${name}: ${shown(beside)} control ${shown(alone)} failed ${failed} ${JSON.stringify(answers)} ${megabytes} MB`,
  );
  return {
    bench: 'neighbours',
    what: `${who} p99 beside ${name}`,
    value: { unit: 'ms', spread: spread(p99) },
    baseline: { name: 'nobody floods', unit: 'ms', spread: spread(calm) },
    ratio: ratios(p99, calm),
    target: { of: 'value', op: '<=', limit: allowed },
    note: `${failed} of the neighbour's calls failed; the flooded process had ${megabytes} MB`,
  };
}

function shown(rounds: readonly Tails[]): string {
  const inMs = (of: 'p50' | 'p99'): string => rounds.map((one) => one[of].toFixed(1)).join(' ');
  return `p50 ${inMs('p50')} p99 ${inMs('p99')}`;
}

async function overAndOver(work: () => Promise<unknown>, until: number): Promise<void> {
  while (performance.now() < until) await work();
}

/** One call after the other: reads, and writes between them; some over a connection of their own. */
async function visit(site: Visited, until: number): Promise<Tails> {
  const took: number[] = [];
  let failed = 0;
  for (let n = 0; performance.now() < until; n += 1) {
    const began = performance.now();
    const answer = await callOnce(site, n).catch(() => null);
    took.push(performance.now() - began);
    if (!answer || answer.status > 299) failed += 1;
    await sleep(PAUSE_MS);
  }
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), failed };
}

function callOnce({ to, headers: own, agent, fresh }: Visited, n: number): Promise<Answer> {
  const isWrite = n % 4 === 3;
  const [host, socketPath] = 'path' in to ? ['localhost', to.path] : [`127.0.0.1:${to.port}`];
  return call(`http://${host}/v1/kv/x`, {
    agent: n % 4 === 1 ? fresh : agent,
    socketPath,
    headers: { ...own, 'content-type': 'application/json' },
    ...(isWrite && { method: 'PUT', body: String(n) }),
  });
}
