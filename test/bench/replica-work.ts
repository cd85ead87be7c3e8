import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from '../helpers/team.ts';
import { nowMs, type Sent } from './replica-watch.ts';
import type { BenchTeam } from './team.ts';

/** A webhook, its claim and its ack. */
const COMMITS_AN_EVENT = 3;
const READS_A_SECOND = 20;
const READS = ['/v1/inbox?limit=20', '/v1/kv/color'];

export interface WorkOptions {
  readonly commitsASecond: number;
  readonly seconds: number;
}

export interface Worked {
  /** Claims and acks. */
  readonly sent: readonly Sent[];
  readonly commits: number;
  readonly reads: number;
  /** Of the reads: those that a replica answered. */
  readonly fromReplica: number;
  /** Of each read, in milliseconds. */
  readonly readMs: readonly number[];
}

interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

/** Webhooks at the gateway; at the daemons of its team, claims, acks and reads. */
export class TeamWork {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #headers: Readonly<Record<string, string>>;
  readonly #members: readonly Member[];
  readonly #hook: string;
  /** Of all runs: equal bodies would be duplicates. */
  #events = 0;

  private constructor(team: BenchTeam, members: readonly Member[], hook: string) {
    this.#headers = {
      authorization: `Bearer ${team.project.apiKey}`,
      'content-type': 'application/json',
    };
    this.#members = members;
    this.#hook = hook;
  }

  static async open(team: BenchTeam, members: readonly Member[]): Promise<TeamWork> {
    const [first] = members;
    if (!first) throw new Error('A team has members.');
    const source = await first.call('POST', '/v1/sources', { type: 'webhook', name: 'work' });
    await first.call('PUT', '/v1/kv/color', { text: 'x'.repeat(500) });
    return new TeamWork(team, members, String(source.body['url']));
  }

  async run({ commitsASecond, seconds }: WorkOptions): Promise<Worked> {
    const endsAt = performance.now() + seconds * 1000;
    const reading = this.#members.map((member) => heldBack(this.#read(member, endsAt)));
    const apartMs = (1000 * COMMITS_AN_EVENT) / commitsASecond;
    const handling: Promise<Sent[]>[] = [];
    const start = performance.now();
    for (let n = 0; start + n * apartMs < endsAt; n += 1) {
      await sleep(Math.max(0, start + n * apartMs - performance.now()));
      handling.push(heldBack(this.#handle()));
    }
    const sent = await Promise.all(handling);
    const reads = (await Promise.all(reading)).flat();
    return {
      sent: sent.flat(),
      commits: sent.length * COMMITS_AN_EVENT,
      reads: reads.length,
      fromReplica: reads.filter(({ isFromReplica }) => isFromReplica).length,
      readMs: reads.map(({ ms }) => ms),
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  /** One event from its webhook to its ack. */
  async #handle(): Promise<Sent[]> {
    const n = (this.#events += 1);
    const member = this.#members[n % this.#members.length];
    const delivered = await this.#call('POST', this.#hook, { n, text: 'x'.repeat(900) });
    const event = { event_id: delivered.body['event_id'] };
    const sent: Sent[] = [];
    for (const step of ['claim', 'ack']) {
      const { headers } = await this.#call('POST', `${member?.baseUrl}/v1/inbox/${step}`, event);
      sent.push({ position: Number(headers['x-service-position']), at: nowMs() });
    }
    return sent;
  }

  async #read(
    { baseUrl }: Member,
    endsAt: number,
  ): Promise<{ isFromReplica: boolean; ms: number }[]> {
    const reads = [];
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      const path = READS[reads.length % READS.length] ?? '';
      const { headers } = await this.#call('GET', baseUrl + path);
      const ms = performance.now() - startedAt;
      const isFromReplica = headers['x-service-replica-age'] !== undefined;
      reads.push({ isFromReplica, ms });
      await sleep(Math.max(0, 1000 / READS_A_SECOND - ms));
    }
    return reads;
  }

  #call(method: string, url: string, body?: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, method, headers: this.#headers };
      const sent = request(url, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('error', reject).on('end', () => {
          if (answer.statusCode !== 200) reject(new Error(`${method} ${url}: ${text}`));
          else resolve({ headers: answer.headers, body: JSON.parse(text) });
        });
      });
      sent.on('error', (error) => {
        // The other side may close an idle connection at the moment we use it again.
        if (sent.reusedSocket) resolve(this.#call(method, url, body));
        else reject(error);
      });
      sent.end(body && JSON.stringify(body));
    });
  }
}

/** A failure is for whoever awaits it later, and doesn't end the process before. */
function heldBack<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}
