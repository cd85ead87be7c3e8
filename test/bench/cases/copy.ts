import { statSync } from 'node:fs';
import type { RunBench } from '../bench.ts';
import { seedHistory } from '../child/seed.ts';
import { spread } from '../stats.ts';
import { BenchTeam, live } from '../team.ts';

const EVENTS = 70_000;

/** How fast the first copy of a project is there. */
export const copy: RunBench = async (bench) => {
  let bytes = 0;
  const team = await BenchTeam.start(bench, (file) => {
    seedHistory(file, { events: EVENTS, pending: 'some' });
    bytes = statSync(file).size;
  });
  const rateLimiter: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const member = team.member();
    const start = performance.now();
    await member.up();
    rateLimiter.push(bytes / 1000 / ((await live(member)) - start));
    await member.down();
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  const megabytes = Math.round(bytes / 1e6);
  return [
    {
      bench: 'copy',
      what: `first copy of a project of ${megabytes} MB, from svc up until it is live`,
      value: { unit: 'MB/s', spread: spread(rateLimiter) },
      target: { of: 'value', op: '>=', limit: 50 },
    },
  ];
};
