import { Agent } from 'node:http';
import { compilePolicy, decidePolicy } from '../../../shared/rules/policy/decide.ts';
import { parsePolicy } from '../../../shared/rules/policy/document.ts';
import { linkToken, tokensOf } from '../../helpers/outbox.ts';
import type { RunBench } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import { call, json } from '../http.ts';
import { quantile, spread } from '../stats.ts';

const WARM_UP = 10;
const RULES = 200;
const DECISIONS = 20_000;

/** A person decides on the page while an agent waits: from sending the form to the answer of the agent's call. */
export const decide: RunBench = async (bench) => {
  const child = await bench.workshop.child('gateway');
  const folder = bench.workshop.place('decide');
  const options: ServeOptions = { folder, secret: 'not used', variant: 'durable' };
  const asker = new Asker(await child.call<Served>('serve', options), folder);
  for (let time = 0; time < WARM_UP; time += 1) await asker.once();
  const rounds: number[][] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const times: number[] = [];
    for (let time = 0; time < (bench.quick ? 20 : 60); time += 1) times.push(await asker.once());
    rounds.push(times);
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  asker.close();
  await child.end();
  const of = (share: number) => ({
    unit: 'ms',
    spread: spread(rounds.map((times) => quantile(times, share))),
  });
  return [
    {
      bench: 'decide',
      what: "a person's decision, from the form to the agent's answer, p50",
      value: of(0.5),
      target: { of: 'value', op: '<=', limit: 5 },
    },
    {
      bench: 'decide',
      what: "a person's decision, from the form to the agent's answer, p99",
      value: of(0.99),
    },
  ];
};

class Asker {
  readonly #served: Served;
  readonly #folder: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(served: Served, folder: string) {
    this.#served = served;
    this.#folder = folder;
  }

  async once(): Promise<number> {
    const asked = tokensOf(this.#folder, 'a').length + 1;
    const { url, apiKey } = this.#served;
    const asking = call(`${url}/v1/requests`, {
      method: 'POST',
      agent: this.#agent,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ action: 'bench', summary: 'Go on', wait_seconds: 30 }),
    });
    const token = await linkToken(this.#folder, 'a', asked);
    const page = `${url}/a/${token}`;
    const shown = await call(page, { method: 'GET', agent: this.#agent, headers: {} });
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(shown.text)?.[1] ?? '';
    const form = new URLSearchParams({ csrf, verb: 'approve' }).toString();
    const from = performance.now();
    const deciding = call(page, {
      method: 'POST',
      agent: this.#agent,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    const answer = json(await asking) as { status: string };
    const ms = performance.now() - from;
    if (answer.status !== 'approved') throw new Error(`It was ${answer.status}.`);
    await deciding;
    return ms;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One decision of a policy of 200 rules, none of which matches: every rule is looked at. */
// eslint-disable-next-line typescript/require-await -- a bench is asynchronous; this one need not be
export const policy: RunBench = async (bench) => {
  const rules = Array.from({ length: RULES }, (_, index) => ({
    id: `rule-${index}`,
    effect: 'auto_approve',
    action: [`area-${index}.*`, `other-${index}.step`],
    amount_lte: index,
    risk: ['low', 'medium'],
  }));
  const compiled = compilePolicy(parsePolicy({ rules }));
  const subject = {
    tool: 'ask_approval',
    action: 'payment.refund',
    amount: 129.5,
    risk: 'medium',
    recipientDomains: null,
  } as const;
  const once = (): number => {
    const from = performance.now();
    for (let time = 0; time < DECISIONS; time += 1) decidePolicy(compiled, subject);
    return ((performance.now() - from) * 1000) / DECISIONS;
  };
  once();
  const rounds = Array.from({ length: bench.rounds }, once);
  return [
    {
      bench: 'policy',
      what: `a policy of ${RULES} rules decides`,
      value: { unit: 'µs', spread: spread(rounds) },
      target: { of: 'value', op: '<=', limit: 50 },
    },
  ];
};
