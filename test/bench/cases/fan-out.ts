import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../../shared/store/connection.ts';
import type { RunBench } from '../bench.ts';
import { quantile, spread } from '../stats.ts';
import { BenchTeam } from '../team.ts';

const REPLICAS = 5;
const READERS = 45;
const COMMITS_A_SECOND = 100;
const SECONDS = 10;
const QUICK_SECONDS = 4;
/** How often the files of the replicas are looked at. */
const LOOK_MS = 5;
/** By then the slowest of them has everything, or it is not coming. */
const REST_MS = 3000;

interface Sent {
  readonly position: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** How far many replicas are behind while somebody writes all the time. */
export const fanOut: RunBench = async (bench) => {
  const team = await BenchTeam.start(bench);
  const files: Libsql.Database[] = [];
  for (let n = 0; n < REPLICAS; n += 1) {
    const member = await team.liveMember();
    files.push(new Libsql(readOnlyAddress(String(member.replicaFile))));
  }
  const readers = await bench.workshop.child('readers');
  const { apiKey } = team.project;
  await readers.call('follow', { url: team.gateway.url, apiKey, count: READERS });
  const seconds = bench.quick ? QUICK_SECONDS : SECONDS;
  const p99s: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const watch = new Watch(files);
    const sent = await write(team, seconds);
    await sleep(REST_MS);
    const ofFiles = await watch.end();
    const positions = sent.map(({ position }) => position);
    const ofReaders = await readers.call<(number | null)[][]>('reachedAt', positions);
    const all = [...ofFiles.map((one) => one.reachedAt(positions)), ...ofReaders];
    p99s.push(quantile(lags(sent, all), 0.99));
    bench.progress(`round ${round + 1} of ${bench.rounds}: ${p99s.at(-1)?.toFixed(0)} ms`);
  }
  for (const file of files) file.close();
  return [
    {
      bench: 'fan-out',
      what: `${REPLICAS} replicas and ${READERS} readers at ${COMMITS_A_SECOND} commits/s, lag p99`,
      value: { unit: 'ms', spread: spread(p99s) },
      target: { of: 'value', op: '<=', limit: 1000 },
    },
  ];
};

/** Infinite where somebody never had a commit. */
function lags(sent: readonly Sent[], all: readonly (readonly (number | null)[])[]): number[] {
  return all.flatMap((reached) =>
    sent.map(({ at }, index) => (reached[index] ?? Number.POSITIVE_INFINITY) - at),
  );
}

/** One write after another at an even pace, each a commit of its own. */
async function write({ gateway, project }: BenchTeam, seconds: number): Promise<Sent[]> {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<Sent>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * COMMITS_A_SECOND; n += 1) {
    await sleep(Math.max(0, start + (n * 1000) / COMMITS_A_SECOND - performance.now()));
    sent.push(put(`${gateway.url}/v1/kv/lag-${n % 50}`, project.apiKey, agent, n));
  }
  const all = await Promise.all(sent);
  agent.destroy();
  return all;
}

function put(url: string, apiKey: string, agent: Agent, n: number): Promise<Sent> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'PUT', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        const position = Number(answer.headers['x-service-position']);
        resolve({ position, at: performance.timeOrigin + performance.now() });
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ n, text: 'x'.repeat(500) }));
  });
}

/** When each file had which position. */
class Watch {
  readonly #ended = new AbortController();
  readonly #files: Watched[];
  readonly #looking: Promise<void>;

  constructor(files: readonly Libsql.Database[]) {
    this.#files = files.map((file) => new Watched(file));
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      for (const file of this.#files) file.look();
      await sleep(LOOK_MS);
    }
  }

  async end(): Promise<readonly Watched[]> {
    this.#ended.abort();
    await this.#looking;
    return this.#files;
  }
}

class Watched {
  readonly #position: Libsql.Statement;
  readonly #seen: [position: number, at: number][] = [];

  constructor(file: Libsql.Database) {
    this.#position = file.prepare("SELECT value FROM meta WHERE name = 'commit_seq'");
  }

  look(): void {
    const { value } = this.#position.get([]) as { value: number };
    if (value === this.#seen.at(-1)?.[0]) return;
    this.#seen.push([value, performance.timeOrigin + performance.now()]);
  }

  reachedAt(positions: readonly number[]): (number | null)[] {
    return positions.map((wanted) => this.#seen.find(([at]) => at >= wanted)?.[1] ?? null);
  }
}
