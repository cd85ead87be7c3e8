import { ClockModel, iso, isoOrNull } from './clock-model.ts';
import { InboxModel, type Delivery } from './inbox-model.ts';
import {
  endOf,
  matching,
  RequestModel,
  type Choice,
  type PolicyName,
  type PolicyRule,
  type Question,
} from './request-model.ts';
import type { EventModel, Holder } from './event-model.ts';
import { PushModel } from './push-model.ts';
import type { Rules } from './rules.ts';

/** A call's answer: `ok` or the refusal's code, and the fields to compare. */
export interface Said {
  readonly code: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Who calls, and under which Idempotency-Key. */
export interface From {
  readonly key: string;
  readonly once: string | null;
}

export const CHANNELS = ['owner', 'ana', 'ben'] as const;
/** The source whose events the route takes. */
export const PUSHED = 'pushed';
export const OPTION = 'half';

interface Kept {
  readonly call: string;
  readonly said: Said;
  readonly until: number;
}

/** What an agent asks people. */
export interface Asking {
  readonly kind: 'approval' | 'question';
  readonly action: string;
  readonly amount: number | null;
  readonly minutes: number;
  readonly hasOption: boolean;
  /** Empty means everyone. */
  readonly approvers: readonly string[];
}

const POLICY_MINUTES = 24 * 60;

/** One project as the interface describes it, written down without the code under test. */
export class ProjectModel {
  readonly clock: ClockModel;
  readonly inbox: InboxModel;
  readonly push: PushModel;
  /** Pushes of the current step. */
  pushed: string[] = [];
  readonly requests: RequestModel[] = [];
  policy: { readonly version: number; readonly name: PolicyName } = { version: 0, name: 'none' };
  /** The ledger's entries: operation, subject, outcome and key. */
  readonly ledger: string[] = [];
  readonly #rules: Rules;
  readonly #kept = new Map<string, Kept>();
  /** The key that asked each request. */
  readonly #askers = new Map<string, string>();
  #leases = 0;

  constructor(rules: Rules, startMs: number) {
    this.#rules = rules;
    this.inbox = new InboxModel(rules);
    this.push = new PushModel(rules);
    this.clock = new ClockModel(startMs);
  }

  get now(): number {
    return this.clock.now;
  }

  deliver(came: Delivery): Said {
    const { status, event } = this.inbox.deliver(came, this.now);
    if (status === 'accepted') {
      this.ledger.push(`event.received ${event.name} ok`);
      if (came.source === PUSHED) this.#takeByRoute(event);
    }
    return { code: 'ok', value: { status, event_id: event.name } };
  }

  #takeByRoute(event: EventModel): void {
    this.push.take(event, this.now);
    if (this.push.route !== null) this.attemptDue();
  }

  /** Calls the receiver for every due push. */
  attemptDue(): void {
    const { tried, lost, entries } = this.push.attempt(this.now);
    this.pushed.push(...tried);
    this.ledger.push(...entries);
    for (const name of lost) this.inbox.tell(name, this.now);
  }

  retryRoute(): Said {
    const retried = this.push.retry(this.now);
    this.ledger.push(`route_retry ${this.push.route} ok admin`);
    if (retried > 0) this.attemptDue();
    return given({ retried, more: false });
  }

  wait(source: string | undefined): Said {
    return { code: 'ok', value: { event: this.inbox.first(this.now, source)?.name ?? null } };
  }

  claim(from: From, name: string, seconds: number): Said {
    const call = `inbox_claim ${name} ${seconds}`;
    const said = this.#write(from, call, name, (event) => {
      const until = this.now + seconds * 1000;
      const lease = `lse#${this.#leases}`;
      const code = event.claim({ key: from.key, lease }, this.now, until);
      if (code !== 'ok') return refused(code);
      this.#leases += 1;
      return { code, value: { lease_id: lease, lease_expires_at: iso(until) } };
    });
    return said.code === 'ok' ? { ...said, value: { ...said.value, ...this.#shown(name) } } : said;
  }

  ack(from: From, name: string, lease: string | undefined): Said {
    return this.#write(from, `inbox_ack ${name} ${lease}`, name, (event) => {
      const code = event.ack({ key: from.key, lease }, this.now);
      if (code !== 'ok' && code !== 'again') return refused(code);
      const value = { event_id: name, status: 'done', acked_at: iso(event.finishedAt) };
      return { code: 'ok', value };
    });
  }

  nack(from: From, name: string, lease: string | undefined, retry: boolean): Said {
    return this.#write(from, `inbox_nack ${name} ${lease} ${retry}`, name, (event) => {
      const code = event.nack({ key: from.key, lease }, retry, this.now);
      if (code !== 'ok') return refused(code);
      const { status, attempts, due } = event.written;
      return { code, value: { event_id: name, status, attempts, retry_at: isoOrNull(due) } };
    });
  }

  extend(from: From, name: string, lease: string | undefined, seconds: number): Said {
    return this.#write(from, `inbox_extend ${name} ${lease} ${seconds}`, name, (event) => {
      const until = this.now + seconds * 1000;
      const code = event.extend({ key: from.key, lease } satisfies Holder, this.now, until);
      if (code !== 'ok') return refused(code);
      const lease_id = event.written.holder?.lease;
      return { code, value: { event_id: name, lease_id, lease_expires_at: iso(until) } };
    });
  }

  requeue(from: From, name: string): Said {
    return this.#write(from, `inbox_requeue ${name}`, name, (event) => {
      const code = event.requeue(this.now);
      return code === 'ok' ? { code, value: { event_id: name, status: 'pending' } } : refused(code);
    });
  }

  ask(from: From, asking: Asking): Said {
    const isQuestion = asking.kind === 'question';
    const op = isQuestion ? 'ask_human' : 'ask_approval';
    // A question has no amount.
    const call = JSON.stringify({ ...asking, amount: isQuestion ? null : asking.amount });
    const said = this.#once(from, `${op} ${call}`, () => {
      const rule = isQuestion ? null : matching(this.#rules, this.policy.name, asking);
      const people = rule?.approvers ?? (asking.approvers.length > 0 ? asking.approvers : CHANNELS);
      const options = asking.hasOption ? [OPTION] : [];
      const asked = { kind: asking.kind, options, approvers: people, told: people };
      return rule && rule.effect !== 'require_approval'
        ? this.#decideByPolicy(from, asked, asking.minutes, rule)
        : this.#open(from, op, { ...asked, rule: rule?.id ?? null }, asking.minutes, null);
    });
    return this.#answered(said);
  }

  #decideByPolicy(
    from: From,
    asked: Omit<Question, 'policyVersion' | 'rule'>,
    minutes: number,
    { id, effect }: PolicyRule,
  ): Said {
    const told = effect === 'auto_approve_notify' ? asked.told : [];
    const request = this.#add({ ...asked, approvers: [], told, rule: id }, minutes, null);
    request.ending = {
      status: effect === 'deny' ? 'denied' : 'approved',
      decision: null,
      comment: null,
      decidedBy: `policy:${id}`,
      at: this.now,
    };
    // The caller has the answer: nobody has to work this event.
    this.inbox.tell(endOf(request.name), this.now).bornDone(this.now);
    const entries = [
      `request.decided ${request.name} ok`,
      `ask_approval ${request.name} ok ${from.key}`,
    ];
    this.ledger.push(...entries);
    return given({ request_id: request.name });
  }

  propose(from: From, policy: PolicyName): Said {
    const said = this.#once(from, `policy_set ${policy}`, () => {
      const people = { approvers: CHANNELS, told: CHANNELS };
      const asked = { kind: 'policy', options: [], ...people, rule: null } as const;
      return this.#open(from, 'policy_set', asked, POLICY_MINUTES, policy);
    });
    return this.#answered(said);
  }

  status(name: string): Said {
    return this.#request(name) ? this.#answered(given({ request_id: name })) : refused('NOT_FOUND');
  }

  /** Who has a link to decide a request by. */
  approversOf(name: string): readonly string[] {
    return this.#request(name)?.asked.approvers ?? [];
  }

  decide(name: string, channel: string, choice: Choice): string {
    const request = this.#request(name);
    if (!request) return 'none';
    const outcome = request.decide(channel, choice, this.now);
    if (outcome !== 'taken') return outcome;
    this.#supersede(request);
    this.ledger.push(`request.decided ${name} ok`);
    if (request.proposal && request.ending?.status === 'approved') {
      this.policy = { version: request.asked.policyVersion + 1, name: request.proposal };
      this.ledger.push(`policy.applied ${name} ok`);
    }
    this.inbox.tell(endOf(name), this.now);
    return outcome;
  }

  /** A key ends, and its questions with it: whoever asked isn't there to hear the answer. */
  revoke(key: string): void {
    for (const request of this.requests) {
      if (this.#askers.get(request.name) !== key || !request.isPending(this.now)) continue;
      request.withdraw(this.now);
      this.inbox.tell(endOf(request.name), this.now).bornDone(this.now);
      this.ledger.push(`request.withdrawn ${request.name} ok admin`);
    }
    this.ledger.push(`key_revoke ${key} ok admin`);
  }

  /** Writes down what time has done. */
  tick(): void {
    this.attemptDue();
    const [moved, purged] = split(this.inbox.tick(this.now), 'payload.purged');
    this.ledger.push(...moved);
    const over = this.requests.filter(
      (one) => !one.ending && one.at(this.now).status === 'expired',
    );
    for (const request of over.toSorted((a, b) => a.expiresAt - b.expiresAt)) {
      request.ending = request.at(this.now);
      this.ledger.push(`request.expired ${request.name} ok`);
      this.inbox.tell(endOf(request.name), this.now);
    }
    this.ledger.push(...purged);
    this.push.forget(this.now);
    for (const [place, { until }] of this.#kept) if (until <= this.now) this.#kept.delete(place);
  }

  restarted(): void {
    this.clock.restarted();
    this.inbox.restarted();
  }

  /** Points in time after which something is over, soonest first. */
  edges(): number[] {
    const { bodyWindowMs, idWindowMs, retentionMs } = this.#rules;
    const events = this.inbox.events.slice(-6);
    const all = [
      ...events.map(({ written }) => written.due ?? 0),
      ...events.flatMap(({ receivedAt: at }) =>
        [bodyWindowMs, idWindowMs, retentionMs].map((ms) => at + ms),
      ),
      ...this.requests.slice(-6).map(({ ending, expiresAt }) => (ending ? 0 : expiresAt)),
      this.push.nextDue() ?? 0,
      ...[...this.#kept.values()].slice(-3).map(({ until }) => until),
    ];
    return [...new Set(all)].filter((at) => at > this.now).toSorted((a, b) => a - b);
  }

  #request(name: string): RequestModel | undefined {
    return this.requests.find((one) => one.name === name);
  }

  #shown(name: string): Record<string, unknown> {
    const event = this.inbox.find(name);
    return { id: name, status: event?.at(this.now).status, attempts: event?.at(this.now).attempts };
  }

  /** An approval of a proposal against another version doesn't apply it. */
  #supersede(request: RequestModel): void {
    const { proposal, ending, asked } = request;
    const isLate = asked.policyVersion !== this.policy.version && this.#rules.supersedes;
    if (!proposal || ending?.status !== 'approved' || !isLate) return;
    request.ending = { ...ending, status: 'denied', decision: null };
  }

  #open(
    from: From,
    op: string,
    asked: Omit<Question, 'policyVersion'>,
    minutes: number,
    proposal: PolicyName | null,
  ): Said {
    const pending = this.requests.filter((one) => one.isPending(this.now));
    const own = pending.filter(({ name }) => this.#askers.get(name) === from.key);
    const { pendingMax, pendingPerKeyMax } = this.#rules;
    if (pending.length >= pendingMax || own.length >= pendingPerKeyMax) {
      this.ledger.push(`${op} - TOO_MANY_PENDING_REQUESTS ${from.key}`);
      return refused('TOO_MANY_PENDING_REQUESTS');
    }
    const { name } = this.#add(asked, minutes, proposal);
    this.#askers.set(name, from.key);
    this.ledger.push(`${op} ${name} ok ${from.key}`);
    return given({ request_id: name });
  }

  #add(
    asked: Omit<Question, 'policyVersion'>,
    minutes: number,
    proposal: PolicyName | null,
  ): RequestModel {
    const request = new RequestModel(this.#rules, {
      name: `req#${this.requests.length}`,
      asked: { ...asked, policyVersion: this.policy.version },
      createdAt: this.now,
      expiresAt: this.now + minutes * 60_000,
      proposal,
    });
    this.requests.push(request);
    return request;
  }

  /** The answer to a question, then and later: the request's state. */
  #answered(said: Said): Said {
    const request = this.#request(String(said.value['request_id']));
    if (said.code !== 'ok' || !request) return said;
    const { status, decision, comment, decidedBy } = request.at(this.now);
    const expires_at = iso(request.expiresAt);
    return given({
      request_id: request.name,
      status,
      decision,
      comment,
      decided_by: decidedBy,
      expires_at,
    });
  }

  /** A write about an event, with its entry in the ledger. */
  #write(from: From, call: string, name: string, act: (event: EventModel) => Said): Said {
    const [op = ''] = call.split(' ');
    return this.#once(from, call, () => {
      const event = this.inbox.find(name);
      const before = event?.written;
      const lapsed = before?.status === 'claimed' && event?.at(this.now) !== before;
      const said = event ? act(event) : refused('NOT_FOUND');
      if (lapsed && said.code === 'ok') this.ledger.push(`lease.expired ${name} ok`);
      this.ledger.push(`${op} ${name} ${said.code} ${from.key}`);
      return said;
    });
  }

  /** Under an Idempotency-Key a call has one effect, and one answer; refusals are not kept. */
  #once({ key, once }: From, call: string, act: () => Said): Said {
    if (once === null) return act();
    const place = `${key} ${once}`;
    const kept = this.#kept.get(place);
    if (kept && kept.until + this.#rules.lateMs > this.now) {
      return kept.call === call ? kept.said : refused('VALIDATION_FAILED');
    }
    const said = act();
    if (said.code === 'ok') {
      this.#kept.set(place, { call, said, until: this.now + this.#rules.answerWindowMs });
    }
    return said;
  }
}

export function refused(code: string): Said {
  return { code, value: {} };
}

function given(value: Said['value']): Said {
  return { code: 'ok', value };
}

function split(entries: readonly string[], prefix: string): [string[], string[]] {
  const has = (entry: string): boolean => entry.startsWith(prefix);
  return [entries.filter((entry) => !has(entry)), entries.filter(has)];
}
