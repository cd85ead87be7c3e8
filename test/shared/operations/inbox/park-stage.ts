import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople, type Asked } from '../../../gateway/approvals/people.ts';

export interface ParkedEvent {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly waiting_for?: { id: string; status: string }[];
  readonly wakes_at?: string;
  readonly parks?: number;
  readonly payload: unknown;
  readonly payload_purged: boolean;
  readonly reason?: string | null;
  readonly lease_id?: string;
  readonly resumed?: {
    parks: number;
    because: string;
    answers: Asked[];
    waited_for: { id: string; status: string }[];
    state: unknown;
  };
  readonly error?: { code: string; details?: { fields?: { path: string; message: string }[] } };
}

/** A gateway with a source, its people, and an agent that works events and parks them. */
export class ParkStage {
  readonly test: TestGateway;
  readonly clock: FakeClock;
  readonly people: TestPeople;
  readonly #url: string;
  #deliveries = 0;

  private constructor(test: TestGateway, clock: FakeClock, people: TestPeople, url: string) {
    this.test = test;
    this.clock = clock;
    this.people = people;
    this.#url = url;
  }

  static async start(
    more: Pick<NonNullable<Parameters<typeof TestGateway.start>[0]>, 'callbackAllow'> = {},
  ): Promise<ParkStage> {
    const clock = new FakeClock();
    const test = await TestGateway.start({ ...more, clock });
    const people = await TestPeople.of(test, clock);
    return new ParkStage(test, clock, people, await test.addSource({ name: 'open' }));
  }

  stop(): Promise<void> {
    return this.test.stop();
  }

  post(path: string, body: unknown, key?: string) {
    return this.test.call<ParkedEvent>('POST', path, { body, ...(key !== undefined && { key }) });
  }

  async arrived(): Promise<string> {
    this.#deliveries += 1;
    const answer = await this.test.deliver(this.#url, `{"n":${this.#deliveries}}`);
    return String(answer.body['event_id']);
  }

  async claim(event_id: string): Promise<ParkedEvent> {
    return (await this.post('/v1/inbox/claim', { event_id })).body;
  }

  nack(body: Record<string, unknown>) {
    return this.post('/v1/inbox/nack', body);
  }

  async event(id: string): Promise<ParkedEvent> {
    return (await this.test.call<ParkedEvent>('GET', `/v1/inbox/events/${id}`)).body;
  }

  /** A new event that an agent works on. */
  async claimed(): Promise<string> {
    const id = await this.arrived();
    await this.claim(id);
    return id;
  }

  /** Asks about an event and parks it. */
  async askAndPark(event_id: string, more: Record<string, unknown> = {}) {
    const { body } = await this.people.ask({ event_id, park: true, ...more });
    return body as Asked & { parked?: boolean };
  }

  /** The operations that the ledger has about something, oldest first. */
  async operations(subject: string): Promise<string[]> {
    const path = `/v1/ledger?subject=${subject}`;
    const { body } = await this.test.call<{ items: { op: string }[] }>('GET', path);
    return body.items.map(({ op }) => op).toReversed();
  }
}
