import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../helpers/programs.ts';
import { newProjects, TeamGateway, type TeamProject } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import type { Answers, Flood } from '../child/flooder.ts';
import type { Child } from '../children.ts';
import { call, json } from '../http.ts';
import { floodsOf, type FloodCase } from '../floods.ts';
import { startFront } from '../front.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';
import { quantile, ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

/** Entries of the ledger that is queried and verified. */
const ENTRIES = 8000;
const AT_ONCE = 64;
/** Between two calls of the neighbour. */
const PAUSE_MS = 5;
/** A flood has this long to reach its strength. */
const BEFORE_MS = 300;
/** Behind a proxy, the one who floods and the neighbour have addresses of their own. */
const FLOODER = '127.0.0.5';
const NEIGHBOUR = '127.0.0.9';
/** The bar: as many times the control's p99, and nothing that's below this. */
const TIMES = 3;
const ALLOWED_MS = 100;

interface Site {
  readonly gateway: TeamGateway;
  /** Where it's called: itself, or the proxy in front. */
  readonly port: number;
  readonly attacker: TeamProject;
  readonly neighbour: TeamProject;
  /** The neighbour's connections: those that stay open, and one for each call. */
  readonly agent: Agent;
  readonly fresh: Agent;
}

interface Tails {
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** What a neighbour sees of a gateway that somebody floods, beside a gateway that nobody floods, in the same moments. */
export const neighbours: RunBench = async (bench) => {
  const { proxy } = bench;
  if (proxy !== null && findTool(proxy) === null) {
    const what = `a neighbour's p99 behind ${proxy}`;
    return [{ bench: 'neighbours', what, skipped: missing(proxy) }];
  }
  await buildProduct(bench.progress);
  // The beginnings of some floods' names, to look at these alone.
  const only = process.env['SVC_BENCH_FLOOD']?.split(',');
  const flooded = await open(bench, 'flooded');
  const control = await open(bench, 'control');
  const flooder = await bench.workshop.child('flooder');
  const rows: Row[] = [];
  const floods = await floodsOf({ ...flooded, url: flooded.gateway.url });
  for (const one of floods) {
    // What says that it comes from a thousand addresses comes from one for a proxy.
    if (proxy !== null && one.flood.from !== undefined) continue;
    if (only && !only.some((name) => one.name.startsWith(name))) continue;
    rows.push(await measure(bench, { flooded, control, flooder }, one));
  }
  for (const { agent, fresh } of [flooded, control])
    for (const one of [agent, fresh]) one.destroy();
  return rows;
};

async function open(bench: Bench, name: string): Promise<Site> {
  const dataFolder = bench.workshop.place(name);
  const [attacker, neighbour] = await newProjects(dataFolder, 2);
  if (!attacker || !neighbour) throw new Error('No project was made.');
  const { proxy, workshop } = bench;
  const listen = `127.0.0.1:${await freePort()}`;
  const trusted = proxy === null ? '127.0.0.2/32' : '127.0.0.1/32';
  const env = { SVC_TRUSTED_PROXIES: trusted, SVC_MAIL_DOMAIN: 'in.example.com' };
  const gateway = workshop.own(await TeamGateway.start({ dataFolder, listen, env }));
  const program = proxy === null ? null : findTool(proxy);
  const front =
    proxy === null || program === null
      ? null
      : await startFront(proxy, { program, folder: workshop.place(proxy), gateway: listen });
  if (front) workshop.own(front);
  const localAddress = proxy === null ? '127.0.0.1' : NEIGHBOUR;
  const site = {
    gateway,
    port: front?.port ?? Number(new URL(gateway.url).port),
    attacker,
    neighbour,
    agent: new Agent({ keepAlive: true, maxSockets: AT_ONCE, localAddress }),
    fresh: new Agent({ localAddress }),
  };
  if (name === 'flooded')
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => fill(site, n)));
  await put(site, neighbour, 'x', '1');
  return site;
}

async function fill(site: Site, n: number): Promise<void> {
  for (let entry = n; entry < ENTRIES; entry += AT_ONCE) {
    await put(site, site.attacker, `fill/${n}`, String(entry));
  }
}

async function put({ gateway, agent }: Site, project: TeamProject, key: string, body: string) {
  const headers = {
    authorization: `Bearer ${project.apiKey}`,
    'content-type': 'application/json',
  };
  json(await call(`${gateway.url}/v1/kv/${key}`, { agent, method: 'PUT', headers, body }));
}

interface Sites {
  readonly flooded: Site;
  readonly control: Site;
  readonly flooder: Child;
}

async function measure(
  { rounds, seconds, progress, proxy }: Bench,
  { flooded, control, flooder }: Sites,
  { name, flood, mostMs = ALLOWED_MS }: FloodCase,
): Promise<Row> {
  const beside: Tails[] = [];
  const alone: Tails[] = [];
  let answers: Answers = {};
  let memory = 0;
  for (let round = 0; round < rounds; round += 1) {
    const wanted: Flood = {
      ...(proxy !== null && { from: FLOODER }),
      ...flood,
      port: flooded.port,
      seconds: seconds + BEFORE_MS / 1000,
    };
    const flooding = flooder.call<Answers>('flood', wanted);
    await sleep(BEFORE_MS);
    const until = performance.now() + (seconds - BEFORE_MS / 1000) * 1000;
    const [hit, calm] = await Promise.all([visit(flooded, until), visit(control, until)]);
    beside.push(hit);
    alone.push(calm);
    answers = await flooding;
    memory = Math.max(memory, flooded.gateway.residentBytes());
    await sleep(BEFORE_MS);
  }
  const p99 = beside.map((one) => one.p99);
  const calm = alone.map((one) => one.p99);
  const failed = beside.reduce((sum, one) => sum + one.failed, 0);
  const allowed = Math.max(mostMs, TIMES * spread(calm).median);
  progress(
    `${name}: p50 ${beside.map((one) => one.p50.toFixed(1)).join(' ')} p99 ${p99.map((ms) => ms.toFixed(0)).join(' ')} control p50 ${alone.map((one) => one.p50.toFixed(1)).join(' ')} p99 ${calm.map((ms) => ms.toFixed(0)).join(' ')} failed ${failed} ${JSON.stringify(answers)} ${Math.round(memory / 1e6)} MB`,
  );
  return {
    bench: 'neighbours',
    what: `a neighbour's p99${proxy === null ? '' : ` behind ${proxy}`} beside ${name}`,
    value: { unit: 'ms', spread: spread(p99) },
    baseline: { name: 'nobody floods', unit: 'ms', spread: spread(calm) },
    ratio: ratios(p99, calm),
    target: { of: 'value', op: '<=', limit: allowed },
    note: `${failed} of the neighbour's calls failed; the flooded gateway had ${Math.round(memory / 1e6)} MB`,
  };
}

/** One call after the other: reads, and writes between them; some over a connection of their own. */
async function visit({ port, neighbour, agent, fresh }: Site, until: number): Promise<Tails> {
  const headers = {
    authorization: `Bearer ${neighbour.apiKey}`,
    'content-type': 'application/json',
  };
  const took: number[] = [];
  let failed = 0;
  for (let n = 0; performance.now() < until; n += 1) {
    const isWrite = n % 4 === 3;
    const method = isWrite ? { method: 'PUT', body: String(n) } : {};
    const began = performance.now();
    const connection = { agent: n % 4 === 1 ? fresh : agent };
    const answer = await call(`http://127.0.0.1:${port}/v1/kv/x`, {
      ...connection,
      headers,
      ...method,
    }).catch(() => null);
    took.push(performance.now() - began);
    if (!answer || answer.status > 299) failed += 1;
    await sleep(PAUSE_MS);
  }
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), failed };
}
