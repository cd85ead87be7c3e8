import type { RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import type { PgBossOptions } from '../child/pg-boss.ts';
import { Postgres } from '../postgres.ts';
import { ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';
import { claimScript, load } from '../wrk.ts';

const ROW = { bench: 'claim', what: 'claim and ack over HTTP, 16 connections' };
const WARM_UP_SECONDS = 2;
/** As many as a worker may find waiting; the rate is taken over fewer seconds where it fetches them all. */
const JOBS = 2000;
/** More events than a run can claim, for each run. */
const EVENTS_A_SECOND = 5000;

/** Claims and acks over HTTP against fetch and complete of a job queue on PostgreSQL. */
export const claim: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  const server = findTool('postgres');
  if (!wrk || !server) return [{ ...ROW, skipped: wrk ? missing('postgres') : missing('wrk') }];
  const eventsARun = Math.max(bench.seconds, WARM_UP_SECONDS) * EVENTS_A_SECOND;
  const events = eventsARun * (bench.rounds + 1);
  const postgres = bench.workshop.own(
    await Postgres.start(server, bench.workshop.place('postgres')),
  );
  try {
    const { socketFolder, user } = postgres;
    const boss = await bench.workshop.child('pg-boss');
    const connection: PgBossOptions = { socketFolder, user, connections: 16 };
    await boss.call('connect', connection);
    const child = await bench.workshop.child('gateway');
    const folder = bench.workshop.place('claims');
    const options: ServeOptions = { folder, secret: 'none needed', variant: 'durable', events };
    const served = await child.call<Served>('serve', options);
    const place = bench.workshop.place('load');
    const script = claimScript(place, served.apiKey, served.eventIds);
    let runs = 0;
    const ours = async (seconds: number): Promise<number> => {
      const skip = String(runs * eventsARun);
      runs += 1;
      const run = await load({
        wrk,
        url: served.url,
        script,
        connections: 16,
        seconds,
        args: [skip],
      });
      // Two answers make one.
      return run.perSecond / 2;
    };
    const theirs = async (seconds: number): Promise<number> => {
      await boss.call('fill', { count: JOBS });
      await postgres.analyze();
      return boss.call('fetchAndComplete', { seconds, concurrency: 16 });
    };
    await ours(WARM_UP_SECONDS);
    await theirs(WARM_UP_SECONDS);
    const rateLimiter = await interleave<'ours' | 'theirs', number>(bench, {
      ours: () => ours(bench.seconds),
      theirs: () => theirs(bench.seconds),
    });
    await child.end();
    await boss.end();
    return [
      {
        ...ROW,
        value: { unit: '/s', spread: spread(rateLimiter.ours) },
        baseline: {
          name: 'pg-boss fetch and complete',
          unit: '/s',
          spread: spread(rateLimiter.theirs),
        },
        ratio: ratios(rateLimiter.ours, rateLimiter.theirs),
      },
    ];
  } finally {
    await postgres.end();
  }
};
