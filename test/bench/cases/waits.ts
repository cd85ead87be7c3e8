import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { KeyedProject, ServeOptions, Served } from '../child/gateway.ts';
import type { Child } from '../children.ts';
import { call, json } from '../http.ts';
import { ratios, spread } from '../stats.ts';

const PROJECTS = 40;
const WAITS_A_PROJECT = 25;
const WAITS_A_KEY = 10;
const WAITS = PROJECTS * WAITS_A_PROJECT;
const HELD_WITHIN_MS = 20_000;

/** What a held wait costs in memory, against a server that does nothing but hold the same request. */
export const waits: RunBench = async (bench) => {
  const kilobytes = await interleave<'ours' | 'bare', number>(bench, {
    ours: () => perWait(bench),
    bare: () => perBareRequest(bench),
  });
  return [
    {
      bench: 'waits',
      what: 'memory of a held wait',
      value: { unit: 'kB', spread: spread(kilobytes.ours) },
      baseline: {
        name: 'held by bare `node:http`',
        unit: 'kB',
        spread: spread(kilobytes.bare),
      },
      ratio: ratios(kilobytes.ours, kilobytes.bare),
      target: { of: 'value', op: '<=', limit: 40 },
    },
  ];
};

async function perWait(bench: Bench): Promise<number> {
  const child = await bench.workshop.child('gateway', ['--expose-gc']);
  const folder = bench.workshop.place('waits');
  const options: ServeOptions = { folder, secret: 'none needed', variant: 'durable' };
  const { url } = await child.call<Served>('serve', options);
  const projects = await child.call<KeyedProject[]>('addProjects', {
    count: PROJECTS,
    keys: Math.ceil(WAITS_A_PROJECT / WAITS_A_KEY),
  });
  const agent = new Agent({ keepAlive: false });
  const address = `${url}/v1/inbox/wait?timeout_seconds=`;
  // Each project has waited once before: its statements and caches are no cost of a wait.
  const first = projects.map(async ({ apiKeys: [apiKey = ''] }) =>
    json(await call(`${address}1`, { agent, headers: bearer(apiKey) })),
  );
  await Promise.all(first);
  const keys = projects.flatMap(({ apiKeys }) =>
    Array.from(
      { length: WAITS_A_PROJECT },
      (_, number) => apiKeys[Math.floor(number / WAITS_A_KEY)] ?? '',
    ),
  );
  return perHeld(child, 'waiting', keys, `${address}120`);
}

async function perBareRequest(bench: Bench): Promise<number> {
  const child = await bench.workshop.child('gateway', ['--expose-gc']);
  const url = await child.call<string>('serveHolding');
  const keys = Array.from({ length: WAITS }, () => 'svc_live_a_key_that_is_as_long_as_a_real_one');
  return perHeld(child, 'held', keys, `${url}/v1/inbox/wait?timeout_seconds=120`);
}

/** Kilobytes the child grows by for each of the requests once it holds them all; ends the child. */
async function perHeld(
  child: Child,
  counter: 'waiting' | 'held',
  keys: readonly string[],
  url: string,
): Promise<number> {
  const before = await child.call<number>('memory');
  const agent = new Agent({ keepAlive: false });
  for (const key of keys) {
    // They end with the child, unanswered.
    call(url, { agent, headers: bearer(key) }).catch(() => undefined);
  }
  const deadline = performance.now() + HELD_WITHIN_MS;
  while ((await child.call<number>(counter)) < keys.length) {
    if (performance.now() > deadline) throw new Error('Not all requests are held.');
    await sleep(50);
  }
  await sleep(200);
  const after = await child.call<number>('memory');
  agent.destroy();
  await child.end();
  return (after - before) / keys.length / 1000;
}

function bearer(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}
