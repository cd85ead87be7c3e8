import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokensOf } from '../../helpers/outbox.ts';
import { readPage } from '../../helpers/reading.ts';
import { interleave, type RunBench } from '../bench.ts';
import { plainEnvironment } from '../children.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import { deliveryBody, signature } from '../delivery.ts';
import { call, json } from '../http.ts';
import { buildProduct, EXECUTABLE } from '../product.ts';
import type { Row } from '../report.ts';
import { quantile, ratios, spread } from '../stats.ts';

const SECRET = 'a secret shared with the sender';
const WARM_UP = 5;
/** By then a wait has reached the server, looked, found nothing and gone to sleep. */
const ASLEEP_MS = 8;
/** By then the command that parked its event has ended, and the worker waits for the next one. */
const PARKED_MS = 400;
const QUESTION = { action: 'bench', summary: 'Go on' };

/** From sending the form of the decision to the agent that goes on, in milliseconds. */
type Way = 'asking' | 'next' | 'worker';

/** A person decides on the page: a call waits for it, or an event is parked on it. */
export const decide: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const child = await bench.workshop.child('gateway');
  const folder = bench.workshop.place('decide');
  const options: ServeOptions = { folder, secret: SECRET, variant: 'durable' };
  const stage = new Stage(await child.call<Served>('serve', options), folder);
  const worker = new Worker(stage, bench.workshop.place('worker'));
  const ways: Readonly<Record<Way, () => Promise<number>>> = {
    asking: () => stage.asked(),
    next: () => stage.parked(),
    worker: () => worker.resumed(),
  };
  const count = bench.quick ? 10 : 40;
  const many = async (way: Way, times = count): Promise<number[]> => {
    const all: number[] = [];
    while (all.length < times) all.push(await ways[way]());
    return all;
  };
  try {
    for (const way of ['asking', 'next', 'worker'] as const) await many(way, WARM_UP);
    const rounds = await interleave<Way, number[]>(bench, {
      asking: () => many('asking'),
      next: () => many('next'),
      worker: () => many('worker'),
    });
    return rowsOf(rounds);
  } finally {
    await worker.end();
    stage.close();
    await child.end();
  }
};

function rowsOf(rounds: Readonly<Record<Way, number[][]>>): Row[] {
  const at = (way: Way, share: number) => rounds[way].map((times) => quantile(times, share));
  const value = (way: Way, share: number) => ({ unit: 'ms', spread: spread(at(way, share)) });
  const beside = (way: Way, what: string): Row => ({
    bench: 'decide',
    what,
    value: value(way, 0.5),
    baseline: { name: 'the wait of `ask_approval`', ...value('asking', 0.5) },
    ratio: ratios(at(way, 0.5), at('asking', 0.5)),
  });
  return [
    {
      bench: 'decide',
      what: "a person's decision, from the form to the agent's answer, p50",
      value: value('asking', 0.5),
      target: { of: 'value', op: '<=', limit: 5 },
    },
    {
      bench: 'decide',
      what: "a person's decision, from the form to the agent's answer, p99",
      value: value('asking', 0.99),
    },
    beside('next', 'a decision, from the form to the parked event in `inbox_next`, p50'),
    beside(
      'worker',
      'a decision, from the form to the command of `inbox work` that runs again, p50',
    ),
  ];
}

/** An agent and a person at a gateway. */
class Stage {
  readonly served: Served;
  readonly #folder: string;
  readonly #person = new Agent({ keepAlive: true });
  readonly #agent = new Agent({ keepAlive: true });
  readonly #opened = new Set<string>();
  #deliveries = 0;

  constructor(served: Served, folder: string) {
    this.served = served;
    this.#folder = folder;
  }

  /** The agent waits in the call that asks. */
  async asked(): Promise<number> {
    const asking = this.#call('POST', '/v1/requests', { ...QUESTION, wait_seconds: 30 });
    const press = await this.form();
    const from = performance.now();
    const deciding = press();
    const { status } = (await asking) as { status: string };
    const ms = performance.now() - from;
    if (status !== 'approved') throw new Error(`It was ${status}.`);
    await deciding;
    return ms;
  }

  /** The agent parks the event and waits for the next one. */
  async parked(): Promise<number> {
    const id = await this.deliver('pull_request');
    const mine = { type: 'pull_request.*', timeout_seconds: 30 };
    const { lease_id } = await this.#next(mine);
    const about = { ...QUESTION, event_id: id, lease_id, park: true };
    await this.#call('POST', '/v1/requests', { ...about, wait_seconds: 0 });
    const press = await this.form();
    const waiting = this.#next(mine).then((event) => ({ event, at: performance.now() }));
    await sleep(ASLEEP_MS);
    const from = performance.now();
    const deciding = press();
    const { event, at } = await waiting;
    if (event.id !== id) throw new Error('Another event came.');
    await deciding;
    await this.#call('POST', '/v1/inbox/ack', { event_id: id, lease_id: event.lease_id });
    return at - from;
  }

  /** Opens the page of the next request, and returns what presses its button. */
  async form(): Promise<() => Promise<void>> {
    const token = await this.#newLink();
    const page = `${this.served.url}/a/${token}`;
    const agent = this.#person;
    const shown = await call(page, { agent, headers: {} });
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(shown.text)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, verb: 'approve' }).toString();
    await readPage(page);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return async () => {
      const { status, text } = await call(page, { method: 'POST', agent, headers, body });
      if (status !== 303) throw new Error(`The page answered ${status}: ${text}`);
    };
  }

  /** The id of the new event. */
  async deliver(event: 'pull_request' | 'issues'): Promise<string> {
    this.#deliveries += 1;
    const body = deliveryBody(this.#deliveries);
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': `decide-${this.#deliveries}`,
      'x-hub-signature-256': signature(SECRET, body),
    };
    const agent = this.#person;
    const answer = await call(this.served.hookUrl, { method: 'POST', agent, headers, body });
    return (json(answer) as { event_id: string }).event_id;
  }

  close(): void {
    this.#person.destroy();
    this.#agent.destroy();
  }

  /** The link of a mail that wasn't there before; a mail about the outcome may repeat an old one. */
  async #newLink(): Promise<string> {
    for (;;) {
      const token = tokensOf(this.#folder, 'a').find((one) => !this.#opened.has(one));
      if (token !== undefined) {
        this.#opened.add(token);
        return token;
      }
      await sleep(5);
    }
  }

  async #next(wanted: object): Promise<{ id: string; lease_id: string }> {
    const answer = await this.#call('POST', '/v1/inbox/next', wanted);
    const [event] = (answer as { items: { id: string; lease_id: string }[] }).items;
    if (!event) throw new Error('No event came.');
    return event;
  }

  async #call(method: string, path: string, body: object): Promise<unknown> {
    const { url, apiKey } = this.served;
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = { method, agent: this.#agent, headers, body: JSON.stringify(body) };
    return json(await call(url + path, sent));
  }
}

/** Asks about its event and parks it, without the 0.3 s that a start of `svc` would take. */
const PARK = `
const { SVC_GATEWAY, SVC_API_KEY, SVC_EVENT_ID: event_id, SVC_LEASE_ID: lease_id } = process.env;
const body = { action: 'bench', summary: 'Go on', event_id, lease_id, park: true, wait_seconds: 0 };
const headers = { authorization: 'Bearer ' + SVC_API_KEY, 'content-type': 'application/json' };
const sent = { method: 'POST', headers, body: JSON.stringify(body) };
const answer = await fetch(SVC_GATEWAY + '/v1/requests', sent);
process.exitCode = answer.ok ? 6 : 1;
`;

/** `svc inbox work`, whose command notes the time when it runs again. */
class Worker {
  readonly #stage: Stage;
  readonly #times: string;
  readonly #process: ChildProcess;
  #runs = 0;

  constructor(stage: Stage, folder: string) {
    this.#stage = stage;
    this.#times = join(folder, 'times');
    const park = join(folder, 'park.mjs');
    writeFileSync(park, PARK);
    const command = `if [ "$SVC_RESUMED" ]; then date +%s%N >> '${this.#times}'; else '${process.execPath}' '${park}'; fi`;
    const { url, apiKey } = stage.served;
    this.#process = spawn(
      process.execPath,
      [EXECUTABLE, 'inbox', 'work', '--type', 'issues.*', '--exec', command],
      {
        stdio: 'ignore',
        env: { ...plainEnvironment(), SVC_HOME: folder, SVC_GATEWAY: url, SVC_API_KEY: apiKey },
      },
    );
  }

  async resumed(): Promise<number> {
    await this.#stage.deliver('issues');
    const press = await this.#stage.form();
    await sleep(PARKED_MS);
    const from = performance.timeOrigin + performance.now();
    await press();
    this.#runs += 1;
    while (this.#ran().length < this.#runs) {
      if (this.#process.exitCode !== null) throw new Error('The worker ended.');
      await sleep(2);
    }
    return Number(this.#ran().at(-1)) / 1e6 - from;
  }

  async end(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGINT');
    await ended;
  }

  #ran(): string[] {
    if (!existsSync(this.#times)) return [];
    return readFileSync(this.#times, 'utf8').trim().split('\n');
  }
}
