import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunBench } from '../bench.ts';
import { freePort } from '../../helpers/programs.ts';
import { newProjects, TeamGateway } from '../../helpers/team.ts';
import { buildProduct } from '../product.ts';
import { spread } from '../stats.ts';

const PROJECTS = 2000;
const QUICK_PROJECTS = 200;
const SETTLE_SECONDS = 30;

/** What a gateway costs whose projects are idle. */
export const projects: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const count = bench.quick ? QUICK_PROJECTS : PROJECTS;
  const dataFolder = bench.workshop.place('gateway');
  bench.progress(`making ${count} projects`);
  const made = await newProjects(dataFolder, count);
  const listen = `127.0.0.1:${await freePort()}`;
  const before = performance.now();
  const gateway = bench.workshop.own(await TeamGateway.start({ dataFolder, listen }));
  const startMs = performance.now() - before;
  bench.progress('letting it settle');
  await sleep(SETTLE_SECONDS * 1000);
  const idle = residentMegabytes(gateway.pid);
  bench.progress('calling each of them once');
  for (const { apiKey } of made) {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${gateway.url}/v1/inbox`, { headers });
    if (!answer.ok) throw new Error(`Status ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  await sleep(2000);
  const used = residentMegabytes(gateway.pid);
  await gateway.end();
  const limit = { of: 'value', op: '<=', limit: 1000 } as const;
  const name = `gateway with ${count.toLocaleString('en')} idle projects`;
  return [
    { bench: 'projects', what: `${name}, start`, value: once('ms', startMs) },
    {
      bench: 'projects',
      what: `${name}, resident memory`,
      value: once('MB', idle),
      target: limit,
    },
    {
      bench: 'projects',
      what: `${name}, resident memory after a call to each`,
      value: once('MB', used),
      target: limit,
    },
  ];
};

function once(unit: string, value: number) {
  return { unit, spread: spread([value]) };
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
}
