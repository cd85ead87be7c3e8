import type { RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import { buildProduct, EXECUTABLE, ProductDaemon, timeOfProcess } from '../product.ts';
import { ratios, spread } from '../stats.ts';

const WARM_UP = 3;

/** How long a command takes from nothing, against a program of Node that does nothing. */
export const start: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const daemon = bench.workshop.own(await ProductDaemon.start(bench.workshop.place('home')));
  try {
    const run = (...args: string[]) => timeOfProcess(args, daemon.environment);
    const sides = {
      nothing: () => Promise.resolve(run('-e', '0')),
      version: () => Promise.resolve(run(EXECUTABLE, '--version')),
      refused: () =>
        Promise.resolve(timeOfProcess([EXECUTABLE, 'inbox', 'claim'], daemon.environment, 2)),
      list: () => Promise.resolve(run(EXECUTABLE, 'inbox', 'list')),
    };
    await interleave({ rounds: WARM_UP, progress: () => undefined }, sides);
    const rounds = bench.quick ? 10 : 30;
    const ms = await interleave({ rounds, progress: () => undefined }, sides);
    const row = (what: string, times: readonly number[], limit: number) => ({
      bench: 'start',
      what,
      value: { unit: 'ms', spread: spread(times) },
      baseline: { name: '`node -e 0`', unit: 'ms', spread: spread(ms.nothing) },
      ratio: ratios(times, ms.nothing),
      target: { of: 'ratio', op: '<=', limit } as const,
    });
    return [
      row('`svc --version`', ms.version, 1.2),
      row('`svc` with an argument missing', ms.refused, 1.2),
      row('`svc inbox list`', ms.list, 1.45),
    ];
  } finally {
    await daemon.end();
  }
};
