import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import { ProductDaemon } from '../product.ts';
import type { Row } from '../report.ts';
import { SlowLink } from '../slow-link.ts';
import { ratios, spread } from '../stats.ts';
import { BenchTeam } from '../team.ts';
import { findTool, missing } from '../tools.ts';
import { load, sameRequestScript, type Load } from '../wrk.ts';

const READS = { 'KV get': '/v1/kv/color', 'inbox list': '/v1/inbox?limit=20' } as const;
const ROUND_TRIP_MS = 20;
const EVENTS = 200;

type Read = keyof typeof READS;
type Side = 'replica' | 'local' | 'remote';

interface Reachable {
  readonly url: string;
  readonly apiKey: string;
}

/** Reads at a daemon over a replica, against local mode and against the gateway at a distance. */
export const replicaReads: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  const names = Object.keys(READS) as Read[];
  if (!wrk) {
    const skipped = missing('wrk');
    return names.map((name) => ({ bench: 'replica-reads', what: name, skipped }));
  }
  const sides = await openSides(bench);
  const rows: Row[] = [];
  for (const name of names) {
    const run = (side: Side) => (): Promise<Load> => {
      const { url, apiKey } = sides[side];
      const folder = bench.workshop.place('load');
      const headers = { Authorization: `Bearer ${apiKey}` };
      const script = sameRequestScript(folder, side, { method: 'GET', headers });
      const { seconds } = bench;
      return load({ wrk, url: url + READS[name], script, connections: 1, seconds });
    };
    const runs = await interleave<Side, Load>(bench, {
      replica: run('replica'),
      local: run('local'),
      remote: run('remote'),
    });
    rows.push(...rowsOf(name, runs));
  }
  return rows;
};

async function openSides(bench: Bench): Promise<Record<Side, Reachable>> {
  const team = await BenchTeam.start(bench);
  const member = await team.liveMember();
  const link = bench.workshop.own(await SlowLink.open(team.gateway.url, ROUND_TRIP_MS));
  const home = bench.workshop.place('local');
  bench.workshop.own(await ProductDaemon.start(home));
  const { apiKey } = team.project;
  const sides = {
    replica: { url: member.baseUrl, apiKey },
    local: localOf(home),
    remote: { url: link.url, apiKey },
  };
  for (const { url, apiKey: key } of [{ url: team.gateway.url, apiKey }, sides.local]) {
    await fill(url, key);
  }
  return sides;
}

function localOf(home: string): Reachable {
  const read = (name: string): Record<string, never> =>
    JSON.parse(readFileSync(join(home, name), 'utf8')) as Record<string, never>;
  const profiles = read('credentials.json')['profiles'] as unknown as Record<
    string,
    { api_key: string }
  >;
  return {
    url: String(read('daemon.json')['base_url']),
    apiKey: String(profiles['default']?.api_key),
  };
}

/** The same in each: a key, and events of an unsigned source. */
async function fill(url: string, apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body: string): Promise<unknown> => {
    const answer = await fetch(url + path, { method, headers, body });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.json();
  };
  await send('PUT', '/v1/kv/color', JSON.stringify({ text: 'x'.repeat(1000) }));
  const source = JSON.stringify({ type: 'webhook', name: 'bench' });
  const { url: hook } = (await send('POST', '/v1/sources', source)) as { url: string };
  for (let n = 0; n < EVENTS; n += 1) {
    const body = JSON.stringify({ n, text: 'x'.repeat(900) });
    await fetch(hook, { method: 'POST', headers: { 'webhook-id': `fill-${n}` }, body });
  }
}

function rowsOf(name: Read, runs: Record<Side, Load[]>): Row[] {
  const p50 = (side: Side): number[] => runs[side].map((run) => run.p50Ms);
  const figure = (side: Side) => ({ unit: 'ms', spread: spread(p50(side)) });
  const row = { bench: 'replica-reads', value: figure('replica') };
  return [
    {
      ...row,
      what: `${name} at a daemon over a replica, p50`,
      baseline: { name: 'local mode', ...figure('local') },
      ratio: ratios(p50('replica'), p50('local')),
      target: { of: 'ratio', op: '<=', limit: 1.2 },
    },
    {
      ...row,
      what: `${name} at a daemon over a replica, p50`,
      baseline: { name: `at a gateway ${ROUND_TRIP_MS} ms away`, ...figure('remote') },
      ratio: ratios(p50('remote'), p50('replica')),
      target: { of: 'ratio', op: '>=', limit: 5 },
    },
  ];
}
