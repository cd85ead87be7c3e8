import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { Child } from '../children.ts';
import type { PushOptions } from '../child/gateway.ts';
import type { Received } from '../child/receiver.ts';
import { ratios, spread } from '../stats.ts';

/** Each destination takes 16 at once. */
const RECEIVERS = 2;
const PATIENCE_MS = 60_000;

/** Signed deliveries that wait in the rows when the gateway opens: what comes by the second, alone and beside a dead end. */
export const push: RunBench = async (bench) => {
  const runs = await interleave<'alone' | 'beside', number>(bench, {
    alone: () => drain(bench, false),
    beside: () => drain(bench, true),
  });
  const value = { unit: '/s', spread: spread(runs.beside) };
  return [
    {
      bench: 'push',
      what: 'signed deliveries to local receivers, 32 connections',
      value: { unit: '/s', spread: spread(runs.alone) },
      target: { of: 'value', op: '>=', limit: 3000 },
    },
    {
      bench: 'push',
      what: 'signed deliveries while one destination never answers',
      value,
      baseline: { name: 'without that one', unit: '/s', spread: spread(runs.alone) },
      ratio: ratios(runs.beside, runs.alone),
      target: { of: 'ratio', op: '>=', limit: 0.95 },
    },
  ];
};

/** Deliveries a second, from the first that came to the last. */
async function drain(bench: Bench, withDead: boolean): Promise<number> {
  const each = bench.quick ? 3000 : 8000;
  const receivers: Child[] = [];
  const urls: string[] = [];
  for (let index = 0; index < RECEIVERS; index += 1) {
    const receiver = await bench.workshop.child('receiver');
    receivers.push(receiver);
    urls.push(await receiver.call<string>('listen'));
  }
  const dead = withDead ? await bench.workshop.child('receiver') : null;
  const deadUrl = dead ? await dead.call<string>('listenDead') : null;
  const gateway = await bench.workshop.child('gateway');
  const options: PushOptions = { folder: bench.workshop.place('push'), urls, deadUrl, each };
  await gateway.call('servePush', options);
  const results = await Promise.all(receivers.map((receiver) => all(receiver, each)));
  for (const child of [gateway, dead, ...receivers]) await child?.end();
  return results.reduce(
    (sum, { count, firstAt, lastAt }) => sum + (count - 1) / ((lastAt - firstAt) / 1000),
    0,
  );
}

async function all(receiver: Child, wanted: number): Promise<Received> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await receiver.call<Received>('received');
    if (seen.count >= wanted) return seen;
    if (performance.now() > until) throw new Error(`Only ${seen.count} of ${wanted} came.`);
    await sleep(50);
  }
}
