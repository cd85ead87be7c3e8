import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunBench } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import { deliveryBody, signature } from '../delivery.ts';
import { call, json } from '../http.ts';
import { quantile, ratios, spread } from '../stats.ts';

const SECRET = 'a secret shared with the sender';
const WARM_UP = 50;
/** By then the wait has reached the server, looked, found nothing and gone to sleep. */
const ASLEEP_MS = 8;

interface Timed {
  /** From sending the delivery to its answer, which comes after the commit. */
  readonly postMs: number;
  /** From sending the delivery to the answer of the wait. */
  readonly wholeMs: number;
  /** From the answer of the delivery to that of the wait. */
  readonly afterMs: number;
}

/** How soon a wait answers a delivery. */
export const wake: RunBench = async (bench) => {
  const child = await bench.workshop.child('gateway');
  const folder = bench.workshop.place('wake');
  const options: ServeOptions = { folder, secret: SECRET, variant: 'durable' };
  const sender = new Sender(await child.call<Served>('serve', options));
  await sender.first();
  for (let time = 0; time < WARM_UP; time += 1) await sender.once();
  const rounds: Timed[][] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const times: Timed[] = [];
    for (let time = 0; time < (bench.quick ? 100 : 300); time += 1) times.push(await sender.once());
    rounds.push(times);
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  sender.close();
  await child.end();
  const of = (what: keyof Timed, share: number): number[] =>
    rounds.map((times) =>
      quantile(
        times.map((time) => time[what]),
        share,
      ),
    );
  const target = { of: 'value', op: '<=', limit: 3 } as const;
  return [
    {
      bench: 'wake',
      what: 'from the commit of an event to the answer of a wait, p50',
      value: figure(of('afterMs', 0.5)),
      target,
    },
    {
      bench: 'wake',
      what: 'from the commit of an event to the answer of a wait, p99',
      value: figure(of('afterMs', 0.99)),
    },
    ...([0.5, 0.99] as const).map((share) => ({
      bench: 'wake',
      what: `from a webhook to the answer of a wait, p${share * 100}`,
      value: figure(of('wholeMs', share)),
      baseline: { name: 'its own answer', ...figure(of('postMs', share)) },
      ratio: ratios(of('wholeMs', share), of('postMs', share)),
    })),
  ];
};

function figure(ms: readonly number[]) {
  return { unit: 'ms', spread: spread(ms) };
}

/** One waits while the other posts, each over a connection it keeps. */
class Sender {
  readonly #served: Served;
  readonly #poster = new Agent({ keepAlive: true });
  readonly #waiter = new Agent({ keepAlive: true });
  #last = '';
  #number = 0;

  constructor(served: Served) {
    this.#served = served;
  }

  async first(): Promise<void> {
    this.#last = (await this.#post()).event_id;
  }

  async once(): Promise<Timed> {
    const { url, apiKey } = this.#served;
    const waiting = call(`${url}/v1/inbox/wait?after=${this.#last}&timeout_seconds=20`, {
      agent: this.#waiter,
      headers: { authorization: `Bearer ${apiKey}` },
    }).then((answer) => ({ answer, at: performance.now() }));
    await sleep(ASLEEP_MS);
    const start = performance.now();
    const posted = await this.#post();
    const postedAt = performance.now();
    const { answer, at } = await waiting;
    const { event } = json(answer) as { event: { id: string } | null };
    if (event?.id !== posted.event_id) throw new Error('The wait answered another event.');
    this.#last = posted.event_id;
    return { postMs: postedAt - start, wholeMs: at - start, afterMs: at - postedAt };
  }

  close(): void {
    this.#poster.destroy();
    this.#waiter.destroy();
  }

  async #post(): Promise<{ event_id: string }> {
    const body = deliveryBody(this.#number);
    this.#number += 1;
    const answer = await call(this.#served.hookUrl, {
      agent: this.#poster,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'pull_request',
        'x-github-delivery': `wake-${this.#number}`,
        'x-hub-signature-256': signature(SECRET, body),
      },
      body,
    });
    return json(answer) as { event_id: string };
  }
}
