import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import type { Row } from '../report.ts';
import { ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';
import { load, sameRequestScript } from '../wrk.ts';

const CALLS = [
  { tool: 'whoami', path: '/v1/whoami' },
  { tool: 'inbox_list', path: '/v1/inbox' },
] as const;
const TARGET = { of: 'ratio', op: '<=', limit: 4 } as const;
const EVENTS = 20;

type Call = (typeof CALLS)[number];

/** A tool call against the same call over REST, one after another on one connection. */
export const mcp: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  if (!wrk) {
    const skipped = missing('wrk');
    return CALLS.map(({ tool }) => ({ bench: 'mcp', what: nameOf(tool), skipped, target: TARGET }));
  }
  const child = await bench.workshop.child('gateway');
  const folder = bench.workshop.place('mcp');
  const options: ServeOptions = { folder, secret: 'none', variant: 'durable', events: EVENTS };
  const served = await child.call<Served>('serve', options);
  const rows: Row[] = [];
  for (const one of CALLS) {
    bench.progress(one.tool);
    rows.push(await compare(bench, wrk, served, one));
  }
  await child.end();
  return rows;
};

function nameOf(tool: string): string {
  return `MCP \`tools/call\` ${tool}, one connection, p50`;
}

async function compare(bench: Bench, wrk: string, served: Served, one: Call): Promise<Row> {
  const { url, apiKey } = served;
  const folder = bench.workshop.place('load');
  const authorization = `Bearer ${apiKey}`;
  const sides = {
    mcp: {
      url: `${url}/mcp`,
      script: sameRequestScript(folder, 'mcp', {
        method: 'POST',
        headers: {
          Authorization: authorization,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2025-06-18',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: one.tool, arguments: {} },
        }),
      }),
    },
    rest: {
      url: url + one.path,
      script: sameRequestScript(folder, 'rest', {
        method: 'GET',
        headers: { Authorization: authorization },
      }),
    },
  };
  const run = async (side: keyof typeof sides, seconds: number): Promise<number> =>
    (await load({ wrk, ...sides[side], connections: 1, seconds })).p50Ms;
  await run('mcp', 1);
  await run('rest', 1);
  const seconds = Math.max(1, Math.floor(bench.seconds / 2));
  const times = await interleave<'mcp' | 'rest', number>(bench, {
    mcp: () => run('mcp', seconds),
    rest: () => run('rest', seconds),
  });
  return {
    bench: 'mcp',
    what: nameOf(one.tool),
    value: { unit: 'ms', spread: spread(times.mcp) },
    baseline: { name: `GET ${one.path}`, unit: 'ms', spread: spread(times.rest) },
    ratio: ratios(times.mcp, times.rest),
    target: TARGET,
  };
}
