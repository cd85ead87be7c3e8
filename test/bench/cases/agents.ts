import { Agent } from 'node:http';
import { keyOf, svc, svcUp } from '../../helpers/daemon.ts';
import type { Bench, RunBench } from '../bench.ts';
import { measureBeside, type Visited } from '../beside.ts';
import { floodsByKey, isAsked } from '../floods.ts';
import { call, json } from '../http.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';

const ENTRIES = 2000;
const AT_ONCE = 32;

interface Site extends Visited {
  readonly key: string;
}

/** The same on one machine: what an agent sees of a daemon that another agent floods, both through its socket. */
export const agents: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const flooded = await open(bench);
  const control = await open(bench);
  const flooder = await bench.workshop.child('flooder');
  const headers = { Authorization: `Bearer ${flooded.key}`, 'X-Service-Agent': 'flooder' };
  const rows: Row[] = [];
  for (const one of floodsByKey(headers)) {
    if (!isAsked(one)) continue;
    rows.push(await measureBeside(bench, { flooded, control, flooder }, one, "an agent's"));
  }
  return rows;
};

async function open({ workshop }: Bench): Promise<Site> {
  const home = workshop.place('home');
  const { socket, pid } = await svcUp(home);
  workshop.own({ end: () => svc(home, ['down']).then(ignore, ignore) });
  const key = await keyOf(home);
  const site = {
    to: { path: socket },
    pid,
    headers: { authorization: `Bearer ${key}`, 'x-service-agent': 'neighbour' },
    agent: new Agent({ keepAlive: true, maxSockets: AT_ONCE }),
    fresh: new Agent(),
    key,
  };
  const fill = async (n: number): Promise<void> => {
    for (let entry = n; entry < ENTRIES; entry += AT_ONCE) await put(site, entry);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => fill(n)));
  return site;
}

const ignore = (): void => undefined;

async function put({ to, agent, headers: own }: Site, value: number): Promise<void> {
  const socketPath = 'path' in to ? to.path : undefined;
  const headers = { ...own, 'content-type': 'application/json' };
  const body = String(value);
  json(await call('http://localhost/v1/kv/x', { agent, socketPath, method: 'PUT', headers, body }));
}
