import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import type { StoreOptions } from '../child/store.ts';
import { Etcd } from '../etcd.ts';
import type { Row } from '../report.ts';
import { ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';
import { deliveryScript, load, numberedScript, sameRequestScript, type Load } from '../wrk.ts';

const SECRET = 'a secret shared with the sender';
const VALUE = JSON.stringify({ n: '{n}', text: 'x'.repeat(1000) });
/** So many keys are written in turn. */
const KEYS = 5000;
const PUT_CONNECTIONS = 64;

const ETCD = "etcd's JSON gateway";

const GET_HELLO = {
  bench: 'kv',
  what: 'KV get over HTTP, one connection, p50',
  target: { of: 'ratio', op: '<=', limit: 1.5 },
} as const;
const PUT_INGEST = {
  bench: 'kv',
  what: 'durable KV put over HTTP, 64 connections',
  target: { of: 'ratio', op: '>=', limit: 0.8 },
} as const;
const GET_ETCD = {
  bench: 'kv',
  what: 'KV get over HTTP, one connection',
  target: { of: 'ratio', op: '>=', limit: 1.5 },
} as const;
const PUT_ETCD = {
  bench: 'kv',
  what: 'durable KV put over HTTP, 64 connections',
  target: { of: 'ratio', op: '>=', limit: 1.5 },
} as const;

/** Keys over HTTP against the least a server can do, against deliveries, and against etcd's JSON gateway. */
export const kv: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  if (!wrk) {
    const skipped = missing('wrk');
    return [GET_HELLO, PUT_INGEST, GET_ETCD, PUT_ETCD].map((row) => ({ ...row, skipped }));
  }
  const child = await bench.workshop.child('gateway');
  const folder = bench.workshop.place('kv');
  const options: ServeOptions = { folder, secret: SECRET, variant: 'durable' };
  const served = await child.call<Served>('serve', options);
  const hello = await bench.workshop.child('gateway');
  const helloUrl = await hello.call<string>('serveHello', {});
  const etcdPath = findTool('etcd');
  const etcd = etcdPath
    ? bench.workshop.own(await Etcd.start(etcdPath, bench.workshop.place('etcd')))
    : null;
  const runs = await measure(bench, { wrk, served, helloUrl, etcdUrl: etcd?.url ?? null });
  for (const one of [child, hello, etcd]) await one?.end();
  return rowsOf(runs);
};

type Side = 'get' | 'hello' | 'put' | 'ingest' | 'etcdGet' | 'etcdPut';

async function measure(
  bench: Bench,
  at: { wrk: string; served: Served; helloUrl: string; etcdUrl: string | null },
): Promise<Partial<Record<Side, Load[]>>> {
  const { wrk, served, helloUrl, etcdUrl } = at;
  const folder = bench.workshop.place('load');
  const authorization = { Authorization: `Bearer ${served.apiKey}` };
  const put = numberedScript(folder, 'put', {
    method: 'PUT',
    path: '/v1/kv/bench%2F{n}',
    headers: { ...authorization, 'Content-Type': 'application/json' },
    body: VALUE,
    numbers: KEYS,
  });
  const plain = { method: 'GET', headers: {} };
  const get = sameRequestScript(folder, 'get', { ...plain, headers: authorization });
  const hello = sameRequestScript(folder, 'hello', plain);
  const deliveries = deliveryScript(folder, SECRET);
  let run = 0;
  const sides: Record<string, (round: number) => Promise<Load>> = {
    get: () => one(`${served.url}/v1/kv/bench%2F0000`, get, 1),
    hello: () => one(helloUrl, hello, 1),
    put: () => one(served.url, put, PUT_CONNECTIONS),
    ingest: () => {
      run += 1;
      const args = [String(run * 30_000), `kv-${run}`];
      return one(served.hookUrl, deliveries, PUT_CONNECTIONS, args);
    },
  };
  if (etcdUrl !== null) Object.assign(sides, etcdSides(folder, etcdUrl, one));
  function one(url: string, script: string, connections: number, args: string[] = []) {
    return load({ wrk, url, script, connections, seconds: bench.seconds, args });
  }
  for (const side of ['put', 'etcdPut', 'ingest']) await sides[side]?.(0);
  return interleave(bench, sides);
}

function etcdSides(
  folder: string,
  url: string,
  one: (url: string, script: string, connections: number) => Promise<Load>,
): Record<'etcdGet' | 'etcdPut', () => Promise<Load>> {
  const value = Buffer.from(VALUE).toString('base64');
  const put = numberedScript(folder, 'etcd-put', {
    method: 'POST',
    path: '/v3/kv/put',
    headers: { 'Content-Type': 'application/json' },
    // Four digits are base64, too: each number is another key, if not the one it names.
    body: JSON.stringify({ key: '{n}', value }),
    numbers: KEYS,
  });
  const get = sameRequestScript(folder, 'etcd-get', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ key: '0000' }),
  });
  return {
    etcdGet: () => one(`${url}/v3/kv/range`, get, 1),
    etcdPut: () => one(url, put, PUT_CONNECTIONS),
  };
}

function p50(side: readonly Load[]): number[] {
  return side.map((run) => run.p50Ms);
}

function rate(side: readonly Load[]): number[] {
  return side.map((run) => run.perSecond);
}

function rateLimiter<T extends Pick<Row, 'bench' | 'what'>>(
  row: T,
  ours: readonly Load[],
  theirs: readonly Load[],
  name: string,
) {
  return {
    ...row,
    value: { unit: '/s', spread: spread(rate(ours)) },
    baseline: { name, unit: '/s', spread: spread(rate(theirs)) },
    ratio: ratios(rate(ours), rate(theirs)),
  };
}

function rowsOf(runs: Partial<Record<Side, Load[]>>): Row[] {
  const { get = [], hello = [], put = [], ingest = [], etcdGet, etcdPut } = runs;
  const skipped = missing('etcd');
  return [
    {
      ...GET_HELLO,
      value: { unit: 'ms', spread: spread(p50(get)) },
      baseline: { name: 'a hono hello', unit: 'ms', spread: spread(p50(hello)) },
      ratio: ratios(p50(get), p50(hello)),
    },
    rateLimiter(PUT_INGEST, put, ingest, 'verified deliveries'),
    etcdGet ? rateLimiter(GET_ETCD, get, etcdGet, ETCD) : { ...GET_ETCD, skipped },
    etcdPut ? rateLimiter(PUT_ETCD, put, etcdPut, ETCD) : { ...PUT_ETCD, skipped },
  ];
}

const FEW = 100;
const MANY = 10_000;

/** What a page of keys costs as they become more. */
export const kvHistory: RunBench = async (bench) => {
  const child = await bench.workshop.child('store');
  const none = { events: 0, pending: 'some' } as const;
  const options: StoreOptions = {
    folder: bench.workshop.place('kv-list'),
    histories: [none, none],
  };
  await child.call('openStores', options);
  await child.call('fillKeys', { subject: 0, count: FEW });
  await child.call('fillKeys', { subject: 1, count: MANY });
  const times = bench.quick ? 100 : 500;
  const run = (subject: number): Promise<number> =>
    child.call('sample', { subject, task: 'list keys', times });
  const ms = await interleave<'few' | 'many', number>(bench, {
    few: () => run(0),
    many: () => run(1),
  });
  await child.end();
  return [
    {
      bench: 'kv-list',
      what: `a page of a list of ${MANY.toLocaleString('en')} keys, p50`,
      value: { unit: 'ms', spread: spread(ms.many) },
      baseline: { name: `of ${FEW} keys`, unit: 'ms', spread: spread(ms.few) },
      ratio: ratios(ms.many, ms.few),
      target: { of: 'ratio', op: '<=', limit: 1.5 },
    },
  ];
};
