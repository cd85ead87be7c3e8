import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../../shared/store/engine/connection.ts';
import type { Member } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import { deliveryBody, signature } from '../delivery.ts';
import { call, json } from '../http.ts';
import type { Row } from '../report.ts';
import { quantile, spread } from '../stats.ts';
import { BenchTeam } from '../team.ts';

const SECRET = 'a secret shared with the sender';
const WARM_UP = 50;
/** By then the wait has reached the daemon, looked, found nothing and gone to sleep. */
const ASLEEP_MS = 15;
/** How often the copy is looked at. */
const LOOK_MS = 0.5;

interface Timed {
  /** From the gateway's answer, which comes after the commit, until the copy has it. */
  readonly visibleMs: number;
  /** From there to the answer of a wait at the daemon. */
  readonly waitMs: number;
}

/** How soon a replica has what was committed at its gateway. */
export const replica: RunBench = async (bench) => [
  ...(await measured(bench, await BenchTeam.start(bench), {
    where: 'the gateway',
    limits: { visible: 8, visibleP99: 40, wait: 10 },
  })),
  ...(await measured(bench, await BenchTeam.onServer(bench, SECRET), {
    where: 'a gateway over a libSQL server',
    limits: { visible: 50 },
  })),
];

interface Measured {
  readonly where: string;
  /** In milliseconds. */
  readonly limits: {
    readonly visible: number;
    readonly visibleP99?: number;
    readonly wait?: number;
  };
}

async function measured(bench: Bench, team: BenchTeam, { where, limits }: Measured) {
  const probe = await Probe.open(team, await team.liveMember());
  for (let time = 0; time < WARM_UP; time += 1) await probe.once();
  const rounds: Timed[][] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const times: Timed[] = [];
    for (let time = 0; time < (bench.quick ? 60 : 200); time += 1) times.push(await probe.once());
    rounds.push(times);
    bench.progress(`${where}: round ${round + 1} of ${bench.rounds}`);
  }
  probe.close();
  const row = (what: string, of: keyof Timed, share: number, limit?: number): Row => {
    const at = rounds.map((times) => quantile(timesOf(times, of), share));
    return {
      bench: 'replica',
      what: `from a commit at ${where} until ${what}, p${share * 100}`,
      value: { unit: 'ms', spread: spread(at) },
      ...(limit !== undefined && { target: { of: 'value', op: '<=', limit } as const }),
    };
  };
  return [
    row('a replica has it', 'visibleMs', 0.5, limits.visible),
    row('a replica has it', 'visibleMs', 0.99, limits.visibleP99),
    row('a wait at its daemon answers', 'waitMs', 0.5, limits.wait),
    row('a wait at its daemon answers', 'waitMs', 0.99),
  ];
}

function timesOf(times: readonly Timed[], of: keyof Timed): number[] {
  return times.map((time) => time[of]);
}

/** Posts to the gateway, waits at the daemon, and looks into the daemon's file. */
class Probe {
  readonly #poster = new Agent({ keepAlive: true });
  readonly #waiter = new Agent({ keepAlive: true });
  readonly #hook: string;
  readonly #member: Member;
  readonly #apiKey: string;
  readonly #file: Libsql.Database;
  #last = '';
  #number = 0;

  private constructor(hook: string, member: Member, apiKey: string) {
    this.#hook = hook;
    this.#member = member;
    this.#apiKey = apiKey;
    this.#file = new Libsql(readOnlyAddress(String(member.replicaFile)));
  }

  static async open({ project }: BenchTeam, member: Member): Promise<Probe> {
    const source = { type: 'webhook', name: 'replica', verification: 'github', secret: SECRET };
    const added = await member.call('POST', '/v1/sources', source);
    const probe = new Probe(String(added.body['url']), member, project.apiKey);
    probe.#last = await probe.#post();
    await probe.#seen(probe.#last);
    return probe;
  }

  async once(): Promise<Timed> {
    const path = `/v1/inbox/wait?after=${this.#last}&timeout_seconds=20`;
    const waiting = call(this.#member.baseUrl + path, {
      agent: this.#waiter,
      headers: { authorization: `Bearer ${this.#apiKey}` },
    }).then((answer) => ({ answer, at: performance.now() }));
    await sleep(ASLEEP_MS);
    const id = await this.#post();
    const postedAt = performance.now();
    const seenAt = await this.#seen(id);
    const { answer, at } = await waiting;
    const { event } = json(answer) as { event: { id: string } | null };
    if (event?.id !== id) throw new Error('The wait answered another event.');
    this.#last = id;
    return { visibleMs: seenAt - postedAt, waitMs: at - postedAt };
  }

  close(): void {
    this.#poster.destroy();
    this.#waiter.destroy();
    this.#file.close();
  }

  async #seen(id: string): Promise<number> {
    const look = this.#file.prepare('SELECT 1 FROM event WHERE id = ?');
    while (look.get([id]) === undefined) await sleep(LOOK_MS);
    return performance.now();
  }

  async #post(): Promise<string> {
    const body = deliveryBody(this.#number);
    this.#number += 1;
    const answer = await call(this.#hook, {
      agent: this.#poster,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'pull_request',
        'x-github-delivery': `replica-${this.#number}`,
        'x-hub-signature-256': signature(SECRET, body),
      },
      body,
    });
    return (json(answer) as { event_id: string }).event_id;
  }
}
