import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { Child } from '../children.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import type { PgBossOptions } from '../child/pg-boss.ts';
import { Postgres } from '../postgres.ts';
import type { Row } from '../report.ts';
import { ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';
import { deliveryScript, load, type Load } from '../wrk.ts';

const SECRET = 'a secret shared with the sender';
const WARM_UP_SECONDS = 2;
const BODIES_A_RUN = 30_000;

interface Generator {
  readonly wrk: string;
  readonly script: string;
}

/** A gateway under load of deliveries, each with a body and an id of its own. */
class Target {
  readonly child: Child;
  readonly #served: Served;
  readonly #generator: Generator;
  #runs = 0;

  private constructor(child: Child, served: Served, generator: Generator) {
    this.child = child;
    this.#served = served;
    this.#generator = generator;
  }

  static async start(
    bench: Bench,
    variant: ServeOptions['variant'],
    generator: Generator,
  ): Promise<Target> {
    const child = await bench.workshop.child('gateway');
    const options: ServeOptions = {
      folder: bench.workshop.place(variant),
      secret: SECRET,
      variant,
    };
    return new Target(child, await child.call<Served>('serve', options), generator);
  }

  run(connections: number, seconds: number): Promise<Load> {
    this.#runs += 1;
    return load({
      ...this.#generator,
      url: this.#served.hookUrl,
      connections,
      seconds,
      args: [String(this.#runs * BODIES_A_RUN), `run-${this.#runs}`],
    });
  }
}

function makeGenerator(bench: Bench, wrk: string): Generator {
  return { wrk, script: deliveryScript(bench.workshop.place('load'), SECRET) };
}

const NO_DATABASE = { of: 'ratio', op: '>=', limit: 0.7, stretch: 0.8 } as const;
const COMMIT_EACH = { of: 'ratio', op: '>=', limit: 3 } as const;
const VERIFIED = 'verified, durable webhooks over HTTP, 64 connections';

/** Verified deliveries made durable, against the same handler without a database and with a commit for each. */
export const ingest: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  if (!wrk) {
    const skipped = missing('wrk');
    return [
      { bench: 'ingest', what: `${VERIFIED}, against no database`, skipped, target: NO_DATABASE },
      { bench: 'ingest', what: `${VERIFIED}, against a commit each`, skipped, target: COMMIT_EACH },
    ];
  }
  const generator = makeGenerator(bench, wrk);
  const durable = await Target.start(bench, 'durable', generator);
  const bare = await Target.start(bench, 'no-database', generator);
  const each = await Target.start(bench, 'commit-each', generator);
  const single = await Target.start(bench, 'one-thread', generator);
  const targets = [durable, bare, each, single];
  for (const target of targets) await target.run(64, WARM_UP_SECONDS);
  const runs = await interleave<Side, Load>(bench, {
    durable: () => durable.run(64, bench.seconds),
    bare: () => bare.run(64, bench.seconds),
    each: () => each.run(64, bench.seconds),
    single: () => single.run(64, bench.seconds),
  });
  for (const target of targets) await target.child.end();
  return ingestRows(runs);
};

function rateLimiter(side: readonly Load[]): number[] {
  return side.map((run) => run.perSecond);
}

function tails(side: readonly Load[]): number[] {
  return side.map((run) => run.p99Ms);
}

type Side = 'durable' | 'bare' | 'each' | 'single';

function ingestRows(runs: Record<Side, Load[]>): Row[] {
  const against = (name: string, side: readonly Load[]) => ({
    bench: 'ingest',
    what: VERIFIED,
    value: { unit: '/s', spread: spread(rateLimiter(runs.durable)) },
    baseline: { name, unit: '/s', spread: spread(rateLimiter(side)) },
    ratio: ratios(rateLimiter(runs.durable), rateLimiter(side)),
  });
  return [
    {
      ...against('the same handler without a database', runs.bare),
      target: NO_DATABASE,
    },
    {
      ...against('a commit each', runs.each),
      target: COMMIT_EACH,
    },
    against('one thread for all', runs.single),
    tailRow(runs.durable, { name: 'a commit each', side: runs.each }),
    tailRow(runs.durable, { name: 'one thread for all', side: runs.single }),
  ];
}

function tailRow(own: Load[], { name, side }: { name: string; side: Load[] }): Row {
  return {
    bench: 'ingest',
    what: `${VERIFIED}, p99`,
    value: { unit: 'ms', spread: spread(tails(own)) },
    baseline: { name, unit: 'ms', spread: spread(tails(side)) },
    ratio: ratios(tails(own), tails(side)),
  };
}

const PG_BOSS = {
  bench: 'queue',
  what: 'verified, durable webhooks over HTTP, 16 connections',
  target: { of: 'ratio', op: '>=', limit: 2 },
} as const;

/** Deliveries over HTTP against a job queue on PostgreSQL that is spoken to directly. */
export const queue: RunBench = async (bench) => {
  const wrk = findTool('wrk');
  const server = findTool('postgres');
  if (!wrk || !server) {
    return [{ ...PG_BOSS, skipped: wrk ? missing('postgres') : missing('wrk') }];
  }
  const postgres = bench.workshop.own(
    await Postgres.start(server, bench.workshop.place('postgres')),
  );
  try {
    const boss = await bench.workshop.child('pg-boss');
    const { socketFolder, user } = postgres;
    const options: PgBossOptions = { socketFolder, user, connections: 16 };
    await boss.call('connect', options);
    const durable = await Target.start(bench, 'durable', makeGenerator(bench, wrk));
    const send = (seconds: number): Promise<number> =>
      boss.call('send', { seconds, concurrency: 16 });
    await durable.run(16, WARM_UP_SECONDS);
    await send(WARM_UP_SECONDS);
    const runs = await interleave<'ours' | 'theirs', number>(bench, {
      ours: async () => (await durable.run(16, bench.seconds)).perSecond,
      theirs: () => send(bench.seconds),
    });
    await durable.child.end();
    await boss.end();
    return [
      {
        ...PG_BOSS,
        value: { unit: '/s', spread: spread(runs.ours) },
        baseline: { name: 'pg-boss `send`, without HTTP', unit: '/s', spread: spread(runs.theirs) },
        ratio: ratios(runs.ours, runs.theirs),
      },
    ];
  } finally {
    await postgres.end();
  }
};
