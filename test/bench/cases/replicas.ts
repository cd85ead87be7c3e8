import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, RunBench } from '../bench.ts';
import { childrenOf, processorMs } from '../processor.ts';
import { lags, Watch } from '../replica-watch.ts';
import { TeamWork, type Worked, type WorkOptions } from '../replica-work.ts';
import type { Row } from '../report.ts';
import { quantile, spread } from '../stats.ts';
import { BenchTeam } from '../team.ts';
import type { Member } from '../../helpers/team.ts';

const SECONDS = 20;
const QUICK_SECONDS = 6;
const WARM_UP_SECONDS = 3;
/** By then the slowest replica has everything, or it's not coming. */
const REST_MS = 3000;

/** A team that works through its daemons, each with a replica. */
interface Team {
  readonly daemons: number;
  readonly commitsASecond: number;
  readonly isJudged: boolean;
}

const TEAMS: readonly Team[] = [
  { daemons: 1, commitsASecond: 100, isJudged: false },
  { daemons: 3, commitsASecond: 60, isJudged: false },
  { daemons: 5, commitsASecond: 100, isJudged: true },
];

interface Measured {
  /** Of the reads, in percent: those that a replica answered. */
  readonly share: number;
  /** In milliseconds. */
  readonly readP50: number;
  readonly lagP50: number;
  readonly lagP99: number;
  /** Processor time a second, in cores: of the gateway, the daemons, and their processes that sync. */
  readonly gateway: number;
  readonly daemons: number;
  readonly syncs: number;
  readonly cores: number;
}

/** How many reads replicas answer, and how far they are behind, while their daemons claim and ack all the time. */
export const replicas: RunBench = async (bench) => {
  const rows: Row[] = [];
  for (const team of TEAMS) rows.push(...(await measuredTeam(bench, team)));
  return rows;
};

async function measuredTeam(bench: Bench, team: Team): Promise<Row[]> {
  const { daemons, commitsASecond } = team;
  const measure = await Measure.open(bench, daemons);
  await measure.once({ commitsASecond, seconds: WARM_UP_SECONDS });
  const rounds: Measured[] = [];
  for (let round = 0; round < (bench.quick ? 1 : 3); round += 1) {
    const seconds = bench.quick ? QUICK_SECONDS : SECONDS;
    const measured = await measure.once({ commitsASecond, seconds });
    rounds.push(measured);
    bench.progress(`${daemons} daemons: ${inShort(measured)}`);
  }
  await measure.close();
  return rowsOf(team, rounds);
}

class Measure {
  readonly #team: BenchTeam;
  readonly #members: readonly Member[];
  readonly #work: TeamWork;

  private constructor(team: BenchTeam, members: readonly Member[], work: TeamWork) {
    this.#team = team;
    this.#members = members;
    this.#work = work;
  }

  static async open(bench: Bench, daemons: number): Promise<Measure> {
    const team = await BenchTeam.start(bench);
    const members: Member[] = [];
    for (let n = 0; n < daemons; n += 1) members.push(await team.liveMember());
    return new Measure(team, members, await TeamWork.open(team, members));
  }

  async once(options: WorkOptions): Promise<Measured> {
    const watch = new Watch(this.#members.map((member) => String(member.replicaFile)));
    const before = this.#processor();
    const startedAt = performance.now();
    const worked = await this.#work.run(options);
    const tookMs = performance.now() - startedAt;
    const after = this.#processor();
    await sleep(REST_MS);
    const files = await watch.end();
    const positions = worked.sent.map(({ position }) => position);
    const behind = lags(
      worked.sent,
      files.map((file) => file.reachedAt(positions)),
    );
    const used = (of: keyof typeof before): number => (after[of] - before[of]) / tookMs;
    const processor = { gateway: used('gateway'), daemons: used('daemons'), syncs: used('syncs') };
    return {
      ...ofReads(worked),
      lagP50: quantile(behind, 0.5),
      lagP99: quantile(behind, 0.99),
      ...processor,
      cores: processor.gateway + processor.daemons + processor.syncs,
    };
  }

  async close(): Promise<void> {
    this.#work.close();
    await Promise.all(this.#members.map((member) => member.down()));
    await this.#team.gateway.end();
  }

  #processor(): { gateway: number; daemons: number; syncs: number } {
    const pids = this.#members.map(({ pid }) => pid);
    return {
      gateway: processorMs(this.#team.gateway.pid),
      daemons: sumOf(pids),
      syncs: sumOf(pids.flatMap(childrenOf)),
    };
  }
}

function sumOf(pids: readonly number[]): number {
  return pids.map(processorMs).reduce((total, ms) => total + ms, 0);
}

/** Everything measured, for the terminal. */
function inShort(measured: Measured): string {
  const parts = Object.entries(measured).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return parts.join(', ');
}

function ofReads({ reads, fromReplica, readMs }: Worked): Pick<Measured, 'share' | 'readP50'> {
  return { share: (100 * fromReplica) / reads, readP50: quantile(readMs, 0.5) };
}

function rowsOf({ daemons, commitsASecond, isJudged }: Team, rounds: readonly Measured[]): Row[] {
  const row = (what: string, of: keyof Measured, unit: string, target?: Row['target']): Row => ({
    bench: 'replicas',
    what: `${daemons} daemons at ${commitsASecond} commits/s: ${what}`,
    value: { unit, spread: spread(rounds.map((measured) => measured[of])) },
    ...(isJudged && target && { target }),
  });
  return [
    row('reads from a replica', 'share', '%', { of: 'value', op: '>=', limit: 90 }),
    row('lag, p50', 'lagP50', 'ms'),
    row('lag, p99', 'lagP99', 'ms', { of: 'value', op: '<=', limit: 1000 }),
    row('gateway and daemons use', 'cores', 'cores'),
  ];
}
