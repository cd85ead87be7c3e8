import type { RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { StoreOptions } from '../child/store.ts';
import { TASKS } from '../child/tasks.ts';
import type { Row } from '../report.ts';
import { ratios, spread } from '../stats.ts';

const WARM_UP = 20;

/** What work on a long history costs against work on a short one. */
export const history: RunBench = async (bench) => {
  const events = bench.quick ? 100_000 : 1_000_000;
  const child = await bench.workshop.child('store');
  const options: StoreOptions = {
    folder: bench.workshop.place('history'),
    histories: [
      { events: 1000, pending: 'some' },
      { events, pending: 'some' },
      { events, pending: 'all' },
    ],
  };
  bench.progress(`filling two projects with ${events} events each`);
  await child.call('openStores', options);
  const rows: Row[] = [];
  for (const task of TASKS) {
    bench.progress(task);
    const run = (subject: number, times: number): Promise<number> =>
      child.call('sample', { subject, task, times });
    for (const subject of [0, 1, 2]) await run(subject, WARM_UP);
    const times = bench.quick ? 50 : 200;
    const ms = await interleave<'short' | 'long' | 'full', number>(bench, {
      short: () => run(0, times),
      long: () => run(1, times),
      full: () => run(2, times),
    });
    for (const [side, name] of [
      ['long', 'a tenth pending'],
      ['full', 'all pending'],
    ] as const) {
      rows.push({
        bench: 'history',
        what: `${task}, p50 at ${events.toLocaleString('en')} events, ${name}`,
        value: { unit: 'ms', spread: spread(ms[side]) },
        baseline: { name: 'at 1,000 events', unit: 'ms', spread: spread(ms.short) },
        ratio: ratios(ms[side], ms.short),
        target: { of: 'ratio', op: '<=', limit: 1.5 },
      });
    }
  }
  await child.end();
  return rows;
};
