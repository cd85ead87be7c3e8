import { refused, spanMs, type FakeCall, type FakeTime, type Fields } from './fake-call.ts';

/** A question to a person, as `svc.request.status` shows it. */
export interface FakeRequest {
  readonly request_id: string;
  readonly kind: 'approval' | 'question';
  status: string;
  readonly action: string | null;
  readonly summary: string | null;
  readonly details: string | null;
  readonly question: string | null;
  readonly options: readonly string[];
  readonly bind: unknown;
  readonly event_id: string | null;
  decision: string | null;
  comment: string | null;
  hint: string | null;
  decided_by: string | null;
  decided_at: string | null;
  spent_by: string | null;
  spent_at: string | null;
  readonly expires_at: string;
}

/** How a person decides. */
export interface FakeDecision {
  /** The option of `modified`, or the answer of `answered`. */
  readonly decision?: string | undefined;
  readonly comment?: string | undefined;
  /** The oldest open request by default. */
  readonly requestId?: string | undefined;
}

/** Decides a request at once, as a policy does: returns a status such as `approved`, or null to ask a person. */
export type FakePolicy = (request: Readonly<FakeRequest>) => string | null;

interface FakeRequestRow {
  readonly shown: FakeRequest;
  readonly identity: string;
  readonly expiresMs: number;
}

const KEY = 'key_test';
/** How long an approval can be used. */
const USE_MS = 86_400_000;

/** Questions to people. */
export class FakePeople {
  readonly #time: FakeTime;
  readonly #policy: FakePolicy;
  readonly #kept: FakeRequestRow[] = [];

  constructor(time: FakeTime, policy: FakePolicy) {
    this.#time = time;
    this.#policy = policy;
  }

  get all(): FakeRequest[] {
    return this.#kept.map(({ shown }) => ({ ...shown }));
  }

  find(id: string): FakeRequest | undefined {
    return this.#kept.find(({ shown }) => shown.request_id === id)?.shown;
  }

  decide(status: string, { decision, comment, requestId }: FakeDecision): string {
    const open = this.#kept.find(
      ({ shown }) =>
        shown.status === 'pending' && [undefined, shown.request_id].includes(requestId),
    );
    if (!open) throw new Error(requestId ? `${requestId} isn't open.` : 'No request is open.');
    this.#end(open.shown, status, { decision, comment, by: 'channel:chn_test' });
    return open.shown.request_id;
  }

  /** The question with these words about its event, or a new one. */
  asked(fields: Fields): FakeRequest {
    const found = this.askedBefore(fields);
    const isOver = found?.status === 'needs_context' || (found && found.hint !== null);
    return found && !isOver ? found : this.#open(fields);
  }

  /** The newest question with these words about its event. */
  askedBefore(fields: Fields): FakeRequest | undefined {
    const identity = identityOf(fields);
    return this.#kept.findLast(
      ({ shown, identity: other }) => shown.event_id !== null && other === identity,
    )?.shown;
  }

  routes({ method, parts: [noun, id, verb], body }: FakeCall): unknown {
    if (noun !== 'requests' || id === undefined) {
      return noun === 'requests' && method === 'GET' ? page(this.all) : undefined;
    }
    const found = this.find(id);
    if (!found) throw refused(404, 'NOT_FOUND');
    if (method === 'GET') return { ...found };
    if (verb === 'use') this.spend(id, body['bind'], KEY);
    else if (verb === 'received') return { request_id: id, closed: false, event_id: null };
    else if (verb === 'withdraw') this.#end(found, 'expired', { hint: 'Withdrawn.' });
    else return undefined;
    return { ...found };
  }

  /** Uses an approval up; APPROVAL_NOT_APPLICABLE if it can't be. */
  spend(id: string, bind: unknown, by: string): void {
    const found = this.find(id);
    const reason = found ? this.#misfitOf(found, bind, by) : 'not_approved';
    if (reason !== null || !found) throw refused(409, 'APPROVAL_NOT_APPLICABLE', { reason });
    found.spent_by = by;
    found.spent_at = this.#time.iso();
  }

  #misfitOf(request: FakeRequest, bind: unknown, by: string): string | null {
    const { status, decided_at: decided, spent_by: spent, event_id: event } = request;
    if ((status !== 'approved' && status !== 'modified') || decided === null) return 'not_approved';
    if (by !== KEY && by !== event) return 'other_event';
    if (JSON.stringify(bind ?? null) !== JSON.stringify(request.bind)) return 'other_values';
    if (spent !== null) return 'spent';
    return this.#time.iso(this.#time.now() - USE_MS) < decided ? null : 'expired';
  }

  /** Withdraws the open questions of an event that is over. */
  withdrawOf(eventId: string): void {
    for (const { shown } of this.#kept) {
      if (shown.event_id === eventId) this.#end(shown, 'expired', { hint: 'Withdrawn.' });
    }
  }

  passTime(): void {
    for (const { shown, expiresMs } of this.#kept) {
      if (expiresMs <= this.#time.now()) this.#end(shown, 'expired', {});
    }
  }

  #open(fields: Fields): FakeRequest {
    const text = (name: string): string | null =>
      typeof fields[name] === 'string' ? fields[name] : null;
    for (const { shown } of this.#kept) {
      const isSame = shown.event_id !== null && shown.event_id === text('event_id');
      if (isSame && shown.action === text('action') && shown.kind === 'approval') {
        this.#end(shown, 'expired', { hint: 'Replaced.' });
      }
    }
    const expiresMs = this.#time.now() + spanMs(text('expires_in') ?? '24h');
    const shown: FakeRequest = {
      request_id: this.#time.id('req'),
      kind: 'question' in fields ? 'question' : 'approval',
      status: 'pending',
      action: text('action'),
      summary: text('summary'),
      details: text('details'),
      question: text('question'),
      options: Array.isArray(fields['options']) ? fields['options'].map(String) : [],
      bind: fields['bind'] ?? null,
      event_id: text('event_id'),
      decision: null,
      comment: null,
      hint: null,
      decided_by: null,
      decided_at: null,
      spent_by: null,
      spent_at: null,
      expires_at: this.#time.iso(expiresMs),
    };
    this.#kept.push({ shown, identity: identityOf(fields), expiresMs });
    const status = this.#policy({ ...shown });
    if (status !== null) this.#end(shown, status, { by: 'policy:test' });
    return shown;
  }

  #end(
    request: FakeRequest,
    status: string,
    {
      decision = null,
      comment = null,
      by = null,
      hint = null,
    }: {
      readonly decision?: string | null | undefined;
      readonly comment?: string | null | undefined;
      readonly by?: string | null;
      readonly hint?: string | null;
    },
  ): void {
    if (request.status !== 'pending') return;
    Object.assign(request, { status, decision, comment, hint, decided_by: by });
    request.decided_at = this.#time.iso();
  }
}

function identityOf(fields: Fields): string {
  const same = 'question' in fields ? ['question'] : ['action', 'bind'];
  return JSON.stringify(['event_id', ...same].map((name) => fields[name] ?? null));
}

export function page(items: readonly unknown[]): Fields {
  return { items, next_cursor: null };
}
