import { refused, spanMs, textOf, type FakeCall, type FakeTime, type Fields } from './fake-call.ts';
import { page, type FakePeople, type FakeRequest } from './fake-people.ts';

/** An event, as `svc.inbox.get` shows it. */
export interface FakeEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly payload: unknown;
  readonly received_at: string;
  readonly verified: boolean;
  readonly trust: 'external_untrusted';
  status: 'pending' | 'claimed' | 'waiting' | 'failed' | 'done' | 'dead';
  attempts: number;
  retry_at: string | null;
  result: unknown;
  reason: string | null;
  lease_id: string | null;
}

interface ParkState {
  readonly until: readonly string[];
  readonly any: boolean;
  readonly state: unknown;
  /** When the times among them have come (ms). */
  readonly due: ReadonlyMap<string, number>;
}

interface FakeEventRow {
  readonly shown: FakeEvent;
  /** When its lease or its pause ends (ms). */
  dueMs: number;
  parks: number;
  parked: ParkState | null;
  resumed: Fields | null;
}

const RETRY_AFTER_MS = [30_000, 60_000, 120_000, 240_000];
const PARKS_MOST = 25;
const LEASE_SECONDS = 300;
const NOES: ReadonlySet<string> = new Set(['denied', 'expired', 'needs_context', 'dead']);

/** Events, their leases, and what wakes parked ones. */
export class FakeInbox {
  readonly #time: FakeTime;
  readonly #people: FakePeople;
  readonly #kept = new Map<string, FakeEventRow>();

  constructor(time: FakeTime, people: FakePeople) {
    this.#time = time;
    this.#people = people;
  }

  deliver(source: string, type: string, payload: unknown): string {
    const shown: FakeEvent = {
      id: this.#time.id('evt'),
      source,
      type,
      payload,
      received_at: this.#time.iso(),
      verified: true,
      trust: 'external_untrusted',
      status: 'pending',
      attempts: 0,
      retry_at: null,
      result: null,
      reason: null,
      lease_id: null,
    };
    this.#kept.set(shown.id, { shown, dueMs: 0, parks: 0, parked: null, resumed: null });
    return shown.id;
  }

  show(id: string): FakeEvent {
    return { ...this.#find(id).shown };
  }

  routes(call: FakeCall): unknown {
    const { method, parts, query, body } = call;
    const [noun, verb, id] = parts;
    if (noun === 'requests' && verb === undefined && method === 'POST') return this.#asked(body);
    if (noun !== 'inbox') return undefined;
    if (method === 'GET') return this.#read(verb, id, query);
    const kept = this.#find(textOf(body, 'event_id'));
    switch (verb) {
      case 'claim':
        return this.#claim(kept, body);
      case 'requeue':
        Object.assign(kept.shown, { status: 'pending', attempts: 0 });
        return { event_id: kept.shown.id, status: 'pending' };
      case 'extend':
        this.#held(kept, body);
        kept.dueMs = this.#leaseEnd(body);
        return { event_id: kept.shown.id, lease_id: kept.shown.lease_id };
      case 'ack':
        return this.#ack(kept, body);
      case 'nack':
        return this.#nack(kept, body);
      default:
        return undefined;
    }
  }

  /** What became due meanwhile. */
  passTime(): void {
    const now = this.#time.now();
    for (const kept of this.#kept.values()) {
      const { shown } = kept;
      if (shown.status === 'claimed' && kept.dueMs <= now) {
        Object.assign(shown, { status: 'pending', attempts: shown.attempts + 1, lease_id: null });
      } else if (shown.status === 'failed' && kept.dueMs <= now) {
        Object.assign(shown, { status: 'pending', retry_at: null });
      } else if (shown.status === 'waiting') this.#wake(kept);
    }
  }

  #find(id: string): FakeEventRow {
    const kept = this.#kept.get(id);
    if (!kept) throw refused(404, 'NOT_FOUND');
    return kept;
  }

  #read(verb: string | undefined, id: string | undefined, query: FakeCall['query']): unknown {
    if (verb === 'events' && id !== undefined) return this.show(id);
    const { source, type, status } = query;
    const found = [...this.#kept.values()]
      .map(({ shown }) => shown)
      .filter((one) => (source === undefined || one.source === source) && hasType(one, type));
    if (verb === 'wait') {
      return { event: found.find((one) => one.status === 'pending') ?? null };
    }
    if (verb !== undefined) return undefined;
    return page(found.filter((one) => status === undefined || one.status === status));
  }

  #leaseEnd(body: Fields): number {
    return this.#time.now() + Number(body['lease_seconds'] ?? LEASE_SECONDS) * 1000;
  }

  #claim(kept: FakeEventRow, body: Fields): unknown {
    const { shown, resumed } = kept;
    if (shown.status !== 'pending') throw refused(409, 'EVENT_NOT_CLAIMABLE');
    kept.dueMs = this.#leaseEnd(body);
    Object.assign(shown, { status: 'claimed', lease_id: this.#time.id('lse') });
    return { ...shown, ...(resumed && { resumed }) };
  }

  #held(kept: FakeEventRow, body: Fields): void {
    const fault = faultOf(kept, body);
    if (fault !== null) throw refused(409, fault);
  }

  #ack(kept: FakeEventRow, body: Fields): unknown {
    const { shown } = kept;
    const answer = { event_id: shown.id, status: 'done', acked_at: this.#time.iso() };
    // An ack may be repeated.
    if (shown.status === 'done') return answer;
    this.#held(kept, body);
    if (body['spends'] !== undefined) {
      this.#people.spend(textOf(body, 'spends'), body['bind'], shown.id);
    }
    Object.assign(shown, { status: 'done', result: body['result'] ?? null });
    this.#people.withdrawOf(shown.id);
    return answer;
  }

  #nack(kept: FakeEventRow, body: Fields): unknown {
    const { shown } = kept;
    this.#held(kept, body);
    const until = Array.isArray(body['until']) ? body['until'].map(String) : null;
    if (until?.[0] === 'now') this.#release(kept, body['state']);
    else if (until) this.#park(kept, until, { any: body['any'] === true, state: body['state'] });
    else this.#fail(kept, body);
    const { status, attempts, retry_at } = shown;
    return { event_id: shown.id, status, attempts, retry_at };
  }

  #release(kept: FakeEventRow, state: unknown): void {
    const none = { parks: kept.parks, because: 'now', waited_for: [], answers: [] };
    kept.shown.status = 'pending';
    if (state !== undefined) kept.resumed = { ...(kept.resumed ?? none), state };
  }

  #fail(kept: FakeEventRow, { reason, retry }: Fields): void {
    const { shown } = kept;
    const pause = retry === false ? undefined : RETRY_AFTER_MS[shown.attempts];
    shown.attempts += 1;
    shown.reason = typeof reason === 'string' ? reason : null;
    shown.status = pause === undefined ? 'dead' : 'failed';
    if (pause === undefined) return this.#people.withdrawOf(shown.id);
    kept.dueMs = this.#time.now() + pause;
    shown.retry_at = this.#time.iso(kept.dueMs);
  }

  #park(
    kept: FakeEventRow,
    until: readonly string[],
    { any, state }: { readonly any: boolean; readonly state: unknown },
  ): void {
    const now = this.#time.now();
    const times = until.filter((one) => one.startsWith('+'));
    const due = new Map(times.map((one) => [one, now + spanMs(one.slice(1))]));
    kept.parks += 1;
    const earlier = kept.resumed?.['state'] ?? null;
    kept.parked = { until, any, state: state === undefined ? earlier : state, due };
    kept.shown.attempts = 0;
    kept.shown.status = kept.parks > PARKS_MOST ? 'dead' : 'waiting';
  }

  /** Asks about a held event, and parks it if nobody has decided; or asks about nothing. */
  #asked(body: Fields): unknown {
    const kept = body['event_id'] === undefined ? null : this.#find(textOf(body, 'event_id'));
    if (kept && faultOf(kept, body) !== null) return this.#askedBefore(kept, body);
    const request = this.#people.asked(body);
    if (!kept || body['park'] !== true || request.status !== 'pending') return { ...request };
    this.#park(kept, [request.request_id], { any: false, state: body['state'] });
    return { ...request, parked: true };
  }

  /** Asking again finds the question, whoever has the event now. */
  #askedBefore(kept: FakeEventRow, body: Fields): unknown {
    const request = this.#people.askedBefore(body);
    if (!request) return this.#held(kept, body);
    const { status, request_id: id } = request;
    const waits = kept.shown.status === 'waiting' && kept.parked?.until.includes(id) === true;
    const isParked = body['park'] === true && waits && status === 'pending';
    return { ...request, ...(isParked && { parked: true }) };
  }

  #wake(kept: FakeEventRow): void {
    const { shown, parked } = kept;
    if (!parked) return;
    const stands = parked.until.map((id) => ({ id, status: this.#statusOf(id, parked) }));
    const ended = stands.filter(({ status }) => status !== 'pending');
    const no = ended.find(({ status }) => NOES.has(status));
    const because = no ?? ended.at(-1);
    const isOver = no !== undefined || parked.any || ended.length === stands.length;
    if (!because || !isOver) return;
    const answers = parked.until
      .map((id) => this.#people.find(id))
      .filter((one): one is FakeRequest => one !== undefined);
    kept.resumed = {
      parks: kept.parks,
      because: because.id,
      waited_for: stands,
      answers: answers.map((one) => ({ ...one })),
      state: parked.state,
    };
    shown.status = 'pending';
  }

  #statusOf(id: string, { due }: ParkState): string {
    const asked = this.#people.find(id)?.status;
    if (asked !== undefined) return asked;
    const event = this.#kept.get(id)?.shown.status;
    if (event !== undefined) return event === 'done' || event === 'dead' ? event : 'pending';
    return (due.get(id) ?? 0) <= this.#time.now() ? 'reached' : 'pending';
  }
}

/** Why a caller with this lease doesn't hold the event, or null. */
function faultOf({ shown }: FakeEventRow, { lease_id: lease }: Fields): string | null {
  if (shown.status !== 'claimed') return 'EVENT_NOT_CLAIMABLE';
  return lease !== undefined && lease !== shown.lease_id ? 'LEASE_NOT_HELD' : null;
}

function hasType({ type }: FakeEvent, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}
