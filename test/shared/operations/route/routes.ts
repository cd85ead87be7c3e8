import type { Project } from '../../../../gateway/projects/project.ts';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { until } from '../../../gateway/callbacks/callback-receiver.ts';

export interface Route {
  readonly id: string;
  readonly secret: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly pending: number;
  readonly dead: number;
  readonly warnings?: readonly string[];
}

export interface Delivery {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
  readonly log: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly status_code: number | null;
    readonly duration_ms: number;
    readonly error: string | null;
    readonly response: string | null;
  }[];
}

interface QueuedEvent {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
}

/** Short ways to the routes of a project. */
export class Routes {
  readonly #gateway: TestGateway;
  readonly #hooks = new Map<string, Promise<string>>();
  #count = 0;

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  async add(callback_url: string, match: Record<string, string> = {}): Promise<Route> {
    const body = { callback_url, ...match };
    const answer = await this.#gateway.call('POST', '/v1/routes', { body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body as unknown as Route;
  }

  async list(): Promise<readonly Route[]> {
    return (await this.#gateway.call<{ items: Route[] }>('GET', '/v1/routes')).body.items;
  }

  /** The one route there is. */
  async only(): Promise<Route> {
    const [route] = await this.list();
    if (!route) throw new Error('There is no route.');
    return route;
  }

  async remove(id: string): Promise<number> {
    return (await this.#gateway.call('DELETE', `/v1/routes/${id}`)).status;
  }

  /** The log of a route, newest first. */
  async log(id: string, query = ''): Promise<readonly Delivery[]> {
    const all: Delivery[] = [];
    for (let cursor = ''; ;) {
      const path = `/v1/routes/${id}/attempts?limit=100${query}${cursor}`;
      const { body } = await this.#gateway.call<{ items: Delivery[]; next_cursor: string | null }>(
        'GET',
        path,
      );
      all.push(...body.items);
      if (body.next_cursor === null) return all;
      cursor = `&cursor=${body.next_cursor}`;
    }
  }

  /** The newest delivery of a route. */
  async newest(id: string): Promise<Delivery> {
    const [delivery] = await this.log(id);
    if (!delivery) throw new Error('Nothing was delivered.');
    return delivery;
  }

  /** The newest delivery once so many attempts are written down. */
  attempted(id: string, count: number): Promise<Delivery> {
    return until(
      () => this.newest(id),
      ({ attempts }) => attempts === count,
    );
  }

  retry(id: string, delivery_id?: string): ReturnType<TestGateway['call']> {
    const body = delivery_id === undefined ? {} : { delivery_id };
    return this.#gateway.call('POST', `/v1/routes/${id}/retry`, { body });
  }

  /** A fresh event of a source. Answers its id. */
  async event(options: { source?: string; body?: string } = {}): Promise<string> {
    const { source = 'open', body = '{"n":1}' } = options;
    const hook = this.#hooks.get(source) ?? this.#gateway.addSource({ name: source });
    this.#hooks.set(source, hook);
    this.#count += 1;
    const headers = { 'webhook-id': `d${this.#count}`, 'content-type': 'application/json' };
    const { body: answer } = await this.#gateway.deliver(await hook, body, headers);
    return String(answer['event_id']);
  }

  async events(status: string): Promise<readonly QueuedEvent[]> {
    const path = `/v1/inbox?status=${status}&limit=100`;
    return (await this.#gateway.call<{ items: QueuedEvent[] }>('GET', path)).body.items;
  }

  /** The state of an event, wherever it stands. */
  async stateOf(id: string): Promise<[status: string, attempts: number]> {
    for (const status of ['pending', 'claimed', 'done', 'failed', 'dead']) {
      const found = (await this.events(status)).find((event) => event.id === id);
      if (found) return [found.status, found.attempts];
    }
    throw new Error(`There is no event ${id}.`);
  }

  /** What the claim of an event answers: 200, or the code of the refusal. */
  async claim(event_id: string): Promise<unknown> {
    const answer = await this.#gateway.call<{ error?: { code: string } }>(
      'POST',
      '/v1/inbox/claim',
      { body: { event_id } },
    );
    return answer.body.error?.code ?? answer.status;
  }

  /** The names of what the ledger says of a subject, oldest first. */
  async ledger(subject: string): Promise<readonly string[]> {
    const answer = await this.#gateway.call<{ items: { op: string }[] }>(
      'GET',
      `/v1/ledger?subject=${subject}`,
    );
    return answer.body.items.map(({ op }) => op).toReversed();
  }
}

export async function projectOf(
  gateway: TestGateway,
  projectId = gateway.projectId,
): Promise<Project> {
  const project = await gateway.gateway.projects.find(projectId);
  if (!project) throw new Error('There is no project.');
  return project;
}
