import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunBench } from '../bench.ts';
import { lags, nowMs, Watch, type Sent } from '../replica-watch.ts';
import { quantile, spread } from '../stats.ts';
import { BenchTeam } from '../team.ts';

const REPLICAS = 5;
const READERS = 45;
const COMMITS_A_SECOND = 100;
const SECONDS = 10;
const QUICK_SECONDS = 4;
/** By then the slowest of them has everything, or it is not coming. */
const REST_MS = 3000;

/** How far many replicas are behind while somebody writes all the time. */
export const fanOut: RunBench = async (bench) => {
  const team = await BenchTeam.start(bench);
  const files: string[] = [];
  for (let n = 0; n < REPLICAS; n += 1) {
    const member = await team.liveMember();
    files.push(String(member.replicaFile));
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
  return [
    {
      bench: 'fan-out',
      what: `${REPLICAS} replicas and ${READERS} readers at ${COMMITS_A_SECOND} commits/s, lag p99`,
      value: { unit: 'ms', spread: spread(p99s) },
      target: { of: 'value', op: '<=', limit: 1000 },
    },
  ];
};

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
        resolve({ position, at: nowMs() });
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ n, text: 'x'.repeat(500) }));
  });
}
