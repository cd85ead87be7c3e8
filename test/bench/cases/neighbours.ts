import { Agent } from 'node:http';
import { freePort } from '../../helpers/programs.ts';
import { newProjects, TeamGateway, type TeamProject } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import { measureBeside, type Visited } from '../beside.ts';
import { crowdsOf } from '../crowds.ts';
import { call, json } from '../http.ts';
import { floodsOf, isAsked, manyKeys, session } from '../floods.ts';
import { startFront } from '../front.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';
import { findTool, missing } from '../tools.ts';
import { agents } from './agents.ts';

/** Entries of the ledger that is queried and verified. */
const ENTRIES = 8000;
const AT_ONCE = 64;
/** A project may have one more. */
const KEYS = 19;
/** Behind a proxy, the neighbour has an address of its own. */
const NEIGHBOUR = '127.0.0.9';

interface Site extends Visited {
  readonly gateway: TeamGateway;
  readonly dataFolder: string;
  readonly attacker: TeamProject;
}

/** What a neighbour sees of a gateway that somebody floods, beside a gateway that nobody floods, in the same moments. */
export const neighbours: RunBench = async (bench) => {
  const { proxy, workshop } = bench;
  if (proxy !== null && findTool(proxy) === null) {
    const what = `a neighbour's p99 behind ${proxy}`;
    return [{ bench: 'neighbours', what, skipped: missing(proxy) }];
  }
  await buildProduct(bench.progress);
  const flooded = await open(bench, 'flooded');
  const control = await open(bench, 'control');
  const flooder = await workshop.child('flooder');
  const { gateway, attacker, dataFolder } = flooded;
  const site = { url: gateway.url, attacker };
  const signedIn = { ...site, cookie: await session(site), keys: await manyKeys(site, KEYS) };
  const place = (name: string): string => workshop.place(name);
  const cases = [
    ...(await floodsOf(signedIn)),
    ...(await crowdsOf({ ...signedIn, dataFolder, place })),
  ];
  const who = `a neighbour's${proxy === null ? '' : ` (behind ${proxy})`}`;
  let floods = 0;
  // A proxy lets nobody flood for long, and remembers who did.
  const from = (): string => `127.0.1.${(floods = (floods % 250) + 1)}`;
  const sites = { flooded, control, flooder, ...(proxy !== null && { from }) };
  const rows: Row[] = [];
  for (const one of cases) {
    // What says that it comes from a thousand addresses comes from one for a proxy.
    if (!isAsked(one) || (proxy !== null && one.isFromMany)) continue;
    rows.push(await measureBeside(bench, sites, one, who));
  }
  for (const { agent, fresh } of [flooded, control])
    for (const one of [agent, fresh]) one.destroy();
  return proxy === null ? [...rows, ...(await agents(bench))] : rows;
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
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, localAddress });
  const fill = async (n: number): Promise<void> => {
    for (let entry = n; entry < ENTRIES; entry += AT_ONCE) {
      await put(gateway.url, agent, attacker, { name: `fill/${n}`, value: entry });
    }
  };
  if (name === 'flooded') await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => fill(n)));
  await put(gateway.url, agent, neighbour, { name: 'x', value: 1 });
  return {
    to: { port: front?.port ?? Number(new URL(gateway.url).port) },
    pid: gateway.pid,
    headers: { authorization: `Bearer ${neighbour.apiKey}` },
    agent,
    fresh: new Agent({ localAddress }),
    gateway,
    dataFolder,
    attacker,
  };
}

async function put(
  url: string,
  agent: Agent,
  { apiKey }: TeamProject,
  { name, value }: { readonly name: string; readonly value: number },
): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = String(value);
  json(await call(`${url}/v1/kv/${name}`, { agent, method: 'PUT', headers, body }));
}
