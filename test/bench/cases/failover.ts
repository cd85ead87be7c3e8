import { setTimeout as sleep } from 'node:timers/promises';
import { Gateways } from '../../helpers/gateways.ts';
import { addHooks, SteadySenders } from '../../helpers/steady-senders.ts';
import type { Bench, RunBench } from '../bench.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';
import { spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

const PROJECTS = 8;
const WARM_UP_MS = 2000;
const HUNG_MS = 6000;
const FAULT_EVERY_MS = 3000;
const FAULTS_FOR_MS = 60_000;

const what = 'time without an accepted delivery to one of eight projects';

/** Two gateways behind HAProxy, over a libSQL server: what senders notice when one dies or hangs. */
export const failover: RunBench = async (bench) => {
  const haproxy = findTool('haproxy');
  if (!haproxy) return [{ bench: 'failover', what, skipped: missing('haproxy') }];
  await buildProduct(bench.progress);
  const gateways = await Gateways.start({
    folder: bench.workshop.place('gateways'),
    publicRoad: 'hashed',
    haproxy,
    env: { SVC_SOURCE_EVENTS_PER_MINUTE: '0' },
  });
  try {
    return await measured(bench, gateways);
  } finally {
    await gateways.stop();
  }
};

async function measured(bench: Bench, gateways: Gateways): Promise<Row[]> {
  const slugs = Array.from({ length: PROJECTS }, (_, n) => `team-${n}`);
  const hooks = await addHooks(gateways.urls.hashed, await gateways.newProjects(...slugs));
  const [killed, hung]: [number[], number[]] = [[], []];
  for (let round = 0; round < bench.rounds; round += 1) {
    const one = round % 2;
    killed.push(await longestGap(hooks, () => gateways.kill(one)));
    await gateways.startOne(one);
    hung.push(await longestGap(hooks, () => hang(gateways, one)));
    bench.progress(`round ${round + 1}: ${killed.at(-1)} ms killed, ${hung.at(-1)} ms hung`);
  }
  const share = await acceptedUnderFaults(bench, gateways, hooks);
  return [
    {
      bench: 'failover',
      what: `${what}, kill -9 of one gateway`,
      value: { unit: 'ms', spread: spread(killed) },
      target: { of: 'value', op: '<=', limit: 1500 },
    },
    {
      bench: 'failover',
      what: `${what}, SIGSTOP of one gateway for ${HUNG_MS / 1000} s`,
      value: { unit: 'ms', spread: spread(hung) },
      target: { of: 'value', op: '<=', limit: 3000 },
    },
    {
      bench: 'failover',
      what: `deliveries accepted with a fault every ${FAULT_EVERY_MS / 1000} s, of those without faults`,
      value: { unit: '%', spread: spread([share]) },
      target: { of: 'value', op: '>=', limit: 50 },
    },
  ];
}

async function hang(gateways: Gateways, one: number): Promise<void> {
  process.kill(gateways.pid(one), 'SIGSTOP');
  await sleep(HUNG_MS);
  process.kill(gateways.pid(one), 'SIGCONT');
}

async function longestGap(
  hooks: ReadonlyMap<string, string>,
  trouble: () => Promise<void>,
): Promise<number> {
  const senders = new SteadySenders(hooks);
  await sleep(WARM_UP_MS);
  const from = performance.now();
  await trouble();
  await sleep(HUNG_MS / 2);
  await senders.stop();
  return Math.round(senders.longestGapMs(from));
}

/** The share of deliveries, in percent, that are accepted while gateways die by turns. */
async function acceptedUnderFaults(
  { quick, progress }: Bench,
  gateways: Gateways,
  hooks: ReadonlyMap<string, string>,
): Promise<number> {
  const forMs = quick ? FAULTS_FOR_MS / 3 : FAULTS_FOR_MS;
  const calm = await accepted(hooks, () => sleep(forMs));
  const troubled = await accepted(hooks, async () => {
    const until = performance.now() + forMs;
    for (let n = 0; performance.now() < until; n += 1) {
      await gateways.kill(n % 2);
      const restarted = gateways.startOne(n % 2);
      await sleep(FAULT_EVERY_MS);
      await restarted;
    }
  });
  progress(`${troubled} of ${calm} deliveries`);
  return (100 * troubled) / calm;
}

async function accepted(
  hooks: ReadonlyMap<string, string>,
  meanwhile: () => Promise<void>,
): Promise<number> {
  const senders = new SteadySenders(hooks);
  await meanwhile();
  await senders.stop();
  return senders.acknowledged.size;
}
