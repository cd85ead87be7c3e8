import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Workshop } from '../bench/children.ts';
import { signature } from '../bench/delivery.ts';
import { SharedTeam } from '../bench/shared-team.ts';
import { quantile } from '../bench/stats.ts';
import type { TeamGateway } from '../helpers/team.ts';

const SECRET = 'a secret shared with the sender';
const POSTERS = 8;
const WORKERS = 24;
const PAUSE_MS = 250;
const KILL_EVERY_MS = 300_000;
const DRAIN_MS = 120_000;

/**
 * Two gateways over one libSQL server for a long time: senders post to all projects by turns through both, workers wait,
 * claim and ack through both, one gateway is killed every five minutes. At the end no acknowledged work is lost or done
 * twice, every ledger verifies, and memory hasn't grown.
 *
 *     npx tsx test/fault/soak-program.ts --minutes 30 --projects 200
 */
class Soak {
  readonly #team: SharedTeam;
  readonly #workshop: Workshop;
  #gateways: TeamGateway[] = [];
  /** By event id. */
  readonly #accepted = new Map<string, { readonly project: number; readonly at: number }>();
  readonly #acked = new Map<string, number>();
  readonly #lags: number[] = [];
  readonly #memory: number[][] = [];
  #refused = 0;
  #isOver = false;
  #turn = 0;

  constructor(team: SharedTeam, workshop: Workshop) {
    this.#team = team;
    this.#workshop = workshop;
  }

  async run(minutes: number): Promise<boolean> {
    this.#gateways = [await this.#team.gateway(), await this.#team.gateway()];
    const endsAt = performance.now() + minutes * 60_000;
    const posters = Array.from({ length: POSTERS }, () => this.#post(endsAt));
    const workers = Array.from({ length: WORKERS }, (_, index) => this.#work(index));
    const killer = this.#kill(endsAt);
    while (performance.now() < endsAt) {
      await sleep(30_000);
      this.#look();
    }
    await Promise.all([...posters, killer]);
    const drainedBy = performance.now() + DRAIN_MS;
    while (this.#acked.size < this.#accepted.size && performance.now() < drainedBy)
      await sleep(500);
    this.#isOver = true;
    await Promise.all(workers);
    return this.#judge();
  }

  /** The gateways in turn, whichever owns the project. */
  #next(): TeamGateway {
    this.#turn += 1;
    return this.#gateways[this.#turn % this.#gateways.length] as TeamGateway;
  }

  async #post(endsAt: number): Promise<void> {
    const { hooks } = this.#team;
    while (performance.now() < endsAt) {
      const project = Math.floor(Math.random() * hooks.length);
      const delivery = randomUUID();
      const body = JSON.stringify({ delivery });
      // Like a provider: until the delivery is acknowledged.
      for (;;) {
        const id = await this.#deliver(hooks[project] ?? '', delivery, body);
        if (id !== null) {
          this.#accepted.set(id, { project, at: performance.now() });
          break;
        }
        this.#refused += 1;
        await sleep(500);
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  async #deliver(hook: string, delivery: string, body: string): Promise<string | null> {
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': delivery,
      'x-hub-signature-256': signature(SECRET, body),
    };
    const answer = await fetch(this.#next().url + hook, { method: 'POST', headers, body }).catch(
      () => null,
    );
    if (!answer?.ok) return null;
    return ((await answer.json()) as { event_id: string }).event_id;
  }

  /** Goes from project to project, of those that are its own. */
  async #work(index: number): Promise<void> {
    const keys = this.#team.projects.map(({ apiKey }) => apiKey);
    for (let project = index; !this.#isOver; project = (project + WORKERS) % keys.length) {
      const key = keys[project] ?? '';
      const path = '/v1/inbox/wait?timeout_seconds=1';
      const found = await this.#call<{ event: { id: string } | null }>(key, 'GET', path);
      const id = found?.event?.id;
      if (id === undefined) continue;
      const claimed = await this.#call(key, 'POST', '/v1/inbox/claim', { event_id: id });
      if (!claimed) continue;
      const accepted = this.#accepted.get(id);
      if (accepted) this.#lags.push(performance.now() - accepted.at);
      if (await this.#call(key, 'POST', '/v1/inbox/ack', { event_id: id })) {
        this.#acked.set(id, (this.#acked.get(id) ?? 0) + 1);
      }
    }
  }

  /** Repeats the same call while it gets no answer or a retryable one; null for a refusal. */
  async #call<T = object>(
    key: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<T | null> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    for (;;) {
      const text = await this.#ask(path, init);
      if (text !== undefined) return text === null ? null : (JSON.parse(text) as T);
      await sleep(200);
    }
  }

  /** The text of a success, null for a refusal, undefined where it should be asked again. */
  async #ask(path: string, init: RequestInit): Promise<string | null | undefined> {
    try {
      const answer = await fetch(this.#next().url + path, init);
      const text = await answer.text();
      if (answer.ok) return text;
      const isBusy = text.includes('IDEMPOTENCY_IN_PROGRESS');
      return answer.status >= 500 || isBusy ? undefined : null;
    } catch {
      return undefined;
    }
  }

  async #kill(endsAt: number): Promise<void> {
    const mayKill = (): boolean => performance.now() + KILL_EVERY_MS < endsAt;
    for (let which = 0; mayKill(); which = 1 - which) {
      await sleep(KILL_EVERY_MS);
      await this.#gateways[which]?.end('SIGKILL');
      await sleep(20_000);
      this.#gateways[which] = await this.#team.gateway();
      say(`killed gateway ${which} and started another`);
    }
  }

  #look(): void {
    const memory = this.#gateways.map(({ pid }) => residentMegabytes(pid));
    this.#memory.push(memory);
    say(`${this.#accepted.size} accepted, ${this.#acked.size} acked, ${memory.join(' and ')} MB`);
  }

  async #judge(): Promise<boolean> {
    const lost = [...this.#accepted.keys()].filter((id) => !this.#acked.has(id));
    const twice = [...this.#acked.values()].filter((count) => count > 1);
    let broken = 0;
    for (const { apiKey: key } of this.#team.projects) {
      const verified = await this.#call<{ ok: boolean }>(key, 'POST', '/v1/ledger/verify', {});
      if (verified?.ok !== true) broken += 1;
    }
    const result = {
      projects: this.#team.projects.length,
      accepted: this.#accepted.size,
      lost: lost.length,
      acked_twice: twice.length,
      refused_and_repeated: this.#refused,
      ledgers_broken: broken,
      lag_p50_ms: Math.round(quantile(this.#lags, 0.5)),
      lag_p99_ms: Math.round(quantile(this.#lags, 0.99)),
      memory_mb: { first: this.#memory[1], last: this.#memory.at(-1) },
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    await this.#workshop.close();
    return lost.length === 0 && twice.length === 0 && broken === 0;
  }
}

/** NaN of one that was killed. */
function residentMegabytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000);
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    projects: { type: 'string', default: '200' },
  },
});
const workshop = new Workshop();
process.once('SIGINT', () => void workshop.close().finally(() => process.exit(130)));
const bench = { workshop, quick: false, rounds: 1, seconds: 1, proxy: null, progress: say };
const team = await SharedTeam.start(bench, Number(values.projects), SECRET);
const isWell = await new Soak(team, workshop).run(Number(values.minutes));
process.exitCode = isWell ? 0 : 1;
