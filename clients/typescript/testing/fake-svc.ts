import type { Caller, CallerOptions } from '../core/caller.ts';
import { ConnectionError } from '../errors.ts';
import { Svc } from '../svc.ts';
import type { PayloadSchema } from '../work/payload.ts';
import type { Finished, Handler, WorkOptions } from '../work/worker.ts';
import { refused, spanMs, type FakeCall, type FakeTime, type Fields } from './fake-call.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeDisk } from './fake-disk.ts';
import { FakeInbox, type FakeEvent } from './fake-inbox.ts';
import { FakePeople, type FakeDecision, type FakePolicy, type FakeRequest } from './fake-people.ts';

const START_MS = Date.UTC(2026, 0, 1);

/**
 * A server in memory, to test handlers without one. It plays the inbox, questions to people, keys, states and files.
 * Its clock stands still until the test moves it, and the test decides in place of people. `policy` may decide a
 * request at once.
 */
export class FakeSvc {
  /** A client of this server. */
  readonly svc: Svc;
  readonly #clock = new FakeClock();
  readonly #people: FakePeople;
  readonly #inbox: FakeInbox;
  readonly #disk: FakeDisk;
  /** Answers of writes, by Idempotency-Key. */
  readonly #answers = new Map<string, { readonly call: string; readonly answer: unknown }>();
  #ids = 0;
  #away = 0;

  constructor({ policy = () => null }: { readonly policy?: FakePolicy } = {}) {
    const time: FakeTime = {
      now: () => this.#clock.now(),
      iso: (at = this.#clock.now()) => new Date(START_MS + at).toISOString(),
      id: (kind) => `${kind}_${String((this.#ids += 1)).padStart(26, '0')}`,
    };
    this.#people = new FakePeople(time, policy);
    this.#inbox = new FakeInbox(time, this.#people);
    this.#disk = new FakeDisk(time);
    const caller: Caller = {
      gateway: new URL('http://fake.invalid'),
      send: (method, path, options) => this.#answered(method, path, options),
    };
    this.svc = new Svc({ note: () => undefined }, caller, this.#clock);
  }

  /** An event arrives; returns its id. */
  deliver(source: string, type: string, payload: unknown = null): string {
    return this.#inbox.deliver(source, type, payload);
  }

  /** A worker handles what is pending now; returns what became of each event. */
  run<P>(
    handler: Handler<NoInfer<P>>,
    options: WorkOptions<P> & { readonly payload: PayloadSchema<P> },
  ): Promise<Finished[]>;
  run(handler: Handler, options?: WorkOptions): Promise<Finished[]>;
  async run(handler: Handler<never>, options: WorkOptions = {}): Promise<Finished[]> {
    const finished: Finished[] = [];
    const onFinished = (one: Finished): void => void finished.push(one);
    const quiet: WorkOptions = { drain: true, handleSignals: false, log: () => undefined };
    await this.svc.work({}, handler as Handler, { ...quiet, ...options, onFinished });
    return finished;
  }

  /**
   * A person decides a request: `approved`, `denied`, `modified` or `answered` (with a `decision`), or `needs_context`
   * (with a `comment`). Returns its id; throws if none is open.
   */
  decide(status = 'approved', decision: FakeDecision = {}): string {
    this.#passTime();
    const id = this.#people.decide(status, decision);
    this.#passTime();
    return id;
  }

  /** The clock jumps (such as `2h`, or milliseconds): a handler that's at work may lose its lease. */
  async advance(by: string | number): Promise<void> {
    this.#clock.advance(typeof by === 'string' ? spanMs(by) : by);
    // Those who waited for it get their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The server doesn't answer the next calls. */
  goAway(calls: number): void {
    this.#away = calls;
  }

  /** An event as it stands. */
  event(id: string): FakeEvent {
    this.#passTime();
    return this.#inbox.show(id);
  }

  /** All requests to people, oldest first. */
  get requests(): FakeRequest[] {
    this.#passTime();
    return this.#people.all;
  }

  async #answered(method: string, path: string, options: CallerOptions = {}): Promise<unknown> {
    await Promise.resolve();
    options.signal?.throwIfAborted();
    if (this.#away > 0) {
      this.#away -= 1;
      throw new ConnectionError({ code: 'UNREACHABLE', message: 'The server is away.' });
    }
    const headers = Object.entries(options.headers ?? {});
    const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1];
    const call = JSON.stringify([method, path, options.query, options.body]);
    const kept = key === undefined ? undefined : this.#answers.get(key);
    if (kept?.call === call) return kept.answer;
    if (kept) throw refused(400, 'VALIDATION_FAILED', {}, 'This key was used for another call.');
    this.#passTime();
    const answer = structuredClone(this.#route(callOf(method, path, options)));
    if (key !== undefined && method !== 'GET') this.#answers.set(key, { call, answer });
    return answer;
  }

  #route(call: FakeCall): unknown {
    const { method, parts, query } = call;
    if (parts[0] === 'whoami') return { project: { id: 'prj_test', slug: 'test', name: 'test' } };
    const parties = [this.#inbox, this.#people, this.#disk];
    for (const party of parties) {
      const answer = party.routes(call);
      if (answer !== undefined) return this.#waited(call, answer, Number(query['timeout_seconds']));
    }
    throw refused(501, 'NOT_PLAYED', {}, `FakeSvc doesn't play ${method} ${parts.join('/')}.`);
  }

  /** A wait that finds nothing takes its full time on the fake clock. */
  #waited({ parts }: FakeCall, answer: unknown, seconds: number): unknown {
    const isEmpty = parts[1] === 'wait' && (answer as Fields)['event'] === null;
    if (isEmpty && seconds > 1) this.#clock.advance(seconds * 1000);
    return answer;
  }

  #passTime(): void {
    this.#people.passTime();
    this.#disk.passTime();
    this.#inbox.passTime();
  }
}

function callOf(method: string, path: string, options: CallerOptions): FakeCall {
  const { body, bytes, headers = {}, query = {} } = options;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const isFields = typeof body === 'object' && body !== null && !Array.isArray(body);
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type');
  return {
    method,
    parts: path
      .replace(/^\/v1\//, '')
      .split('/')
      .map(decodeURIComponent),
    query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    json: body,
    body: isFields ? (body as Fields) : {},
    bytes,
    contentType: type?.[1],
  };
}
