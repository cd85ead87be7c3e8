import { setTimeout as sleep } from 'node:timers/promises';
import type { Choice } from '../../../../gateway/approvals/approvals.ts';
import type { GatewayOptions } from '../../../../gateway/options.ts';
import { operations } from '../../../../shared/operations/index.ts';
import { TestPeople } from '../../../gateway/approvals/people.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Agent, type RpcAnswer } from './agent.ts';
import { serveMcp, type Served } from './fake.ts';
import { META } from './wire.ts';

export const EXTENSION = 'io.modelcontextprotocol/tasks';
/** What a client says that takes tasks. */
export const DECLARED = {
  ...META,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [EXTENSION]: {} } },
};
/** No test takes so long: a held reading ends only with its task. */
const HOLD_MS = 60_000;

type Fields = Record<string, unknown>;

/** A gateway, its people, and an agent that takes tasks. */
export class TaskSite {
  readonly test: TestGateway;
  readonly people: TestPeople;
  readonly clock: FakeClock;
  readonly agent: Agent;
  /** The same agent, whose readings are held as long as nothing ends them. */
  readonly patient: Agent;
  /** The same agent over a connection that only reads. */
  readonly reader: Agent;
  readonly #served: Served;
  #arrivals = 0;

  private constructor(test: TestGateway, people: TestPeople, clock: FakeClock, served: Served) {
    this.test = test;
    this.people = people;
    this.clock = clock;
    this.agent = new Agent(test.url, test.apiKey);
    this.patient = new Agent(served.url.origin, test.apiKey);
    this.reader = new Agent(test.url, test.apiKey, '/mcp/readonly');
    this.#served = served;
  }

  static async start(options: Partial<Pick<GatewayOptions, 'messaging'>> = {}): Promise<TaskSite> {
    const clock = new FakeClock(Date.now());
    const test = await TestGateway.start({ ...options, clock });
    const { executor } = test.gateway;
    const served = await serveMcp(executor, operations, { taskHoldMs: HOLD_MS });
    return new TaskSite(test, await TestPeople.of(test, clock), clock, served);
  }

  async stop(): Promise<void> {
    await this.#served.close();
    await this.test.stop();
  }

  declaring(method: string, params: object, by = this.agent): Promise<RpcAnswer> {
    return by.modern(method, { _meta: DECLARED, ...params });
  }

  call(name: string, input: object, by = this.agent): Promise<RpcAnswer> {
    return this.declaring('tools/call', { name, arguments: input }, by);
  }

  ask(input: object = {}, by = this.agent): Promise<RpcAnswer> {
    return this.call('ask_approval', { action: 'pr.merge', summary: 'Merge #7', ...input }, by);
  }

  get(taskId: unknown, by = this.agent): Promise<RpcAnswer> {
    return this.declaring('tasks/get', { taskId }, by);
  }

  cancel(taskId: unknown, by = this.agent): Promise<RpcAnswer> {
    return this.declaring('tasks/cancel', { taskId }, by);
  }

  /** A reading that is held by now, and goes on until the task ends. */
  async held(taskId: unknown): Promise<{ readonly answer: Promise<RpcAnswer> }> {
    const answer = this.get(taskId, this.patient);
    while (this.people.project.waits.size === 0) await sleep(2);
    return { answer };
  }

  async decide(id: unknown, choice: Choice): Promise<void> {
    const token = await this.people.link(String(id));
    const decided = await this.test.gateway.approvals.decide(token, choice);
    if (decided?.outcome !== 'taken') throw new Error(`The decision was ${decided?.outcome}.`);
  }

  /** The newest question that nobody has answered. */
  async open(): Promise<string> {
    const { body } = await this.test.call<{ items: { request_id: string }[] }>(
      'GET',
      '/v1/requests?status=pending',
    );
    return body.items[0]?.request_id ?? '';
  }

  async keyOf(...scopes: string[]): Promise<Agent> {
    return new Agent(this.test.url, await this.test.key(...scopes));
  }

  /** A new event from this address. */
  async arrive(hook: string): Promise<string> {
    // The same body twice would be one event.
    const body = JSON.stringify({ number: (this.#arrivals += 1) });
    return String((await this.test.deliver(hook, body)).body['event_id']);
  }

  /** How many events anybody may claim. */
  async pending(): Promise<number> {
    const { body } = await this.test.call<{ items: object[] }>('GET', '/v1/inbox?status=pending');
    return body.items.length;
  }
}

/** The result of a completed task, byte for byte. */
export const bytesOf = ({ result }: RpcAnswer): string => JSON.stringify(result['result']);

export const structured = ({ result }: RpcAnswer): Fields =>
  (result['result'] as { structuredContent: Fields }).structuredContent;
