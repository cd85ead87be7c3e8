import { EventModel } from './event-model.ts';
import type { Rules } from './rules.ts';

/** A source's delivery. */
export interface Delivery {
  readonly source: string;
  readonly body: string;
  readonly providerId: string | null;
}

/** A project's queue: duplicates, order, and what time changes. */
export class InboxModel {
  /** In the order of arrival. */
  readonly events: EventModel[] = [];
  readonly #rules: Rules;
  #accepted = 0;
  /** A known body under another id is a hint: a process knows the bodies of the day before its first delivery, and all since. */
  #bodiesSince: number | null = null;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** A new process has to load the bodies again. */
  restarted(): void {
    this.#bodiesSince = null;
  }

  /** Whether a new process would know as many bodies as the running one: not if the clock went back since. */
  remembersAll(now: number): boolean {
    return this.#bodiesSince !== null && this.#bodiesSince <= now - this.#rules.bodyWindowMs;
  }

  /** The last moment at which the same delivery is a duplicate. */
  rememberedUntil({ providerId, receivedAt }: EventModel): number {
    const { idWindowMs, bodyWindowMs } = this.#rules;
    return receivedAt + (providerId === null ? bodyWindowMs : idWindowMs);
  }

  deliver(came: Delivery, now: number): { status: string; event: EventModel } {
    const { idWindowMs, bodyWindowMs } = this.#rules;
    const { source, body, providerId } = came;
    this.#bodiesSince ??= now - bodyWindowMs;
    const newest = (fits: (event: EventModel) => boolean, sinceMs: number) =>
      this.events.findLast(
        (one) => one.source === source && one.receivedAt >= sinceMs && fits(one),
      );
    const isSame = (one: EventModel): boolean => one.body === body;
    const hint = newest(isSame, Math.max(now - bodyWindowMs, this.#bodiesSince));
    const seen =
      providerId === null
        ? (hint ?? newest((one) => isSame(one) && one.providerId === null, now - bodyWindowMs))
        : newest((one) => one.providerId === providerId, now - idWindowMs);
    if (seen) return { status: 'duplicate', event: seen };
    const name = `evt#${this.#accepted}`;
    this.#accepted += 1;
    return {
      status: 'accepted',
      event: this.#add({ ...came, name, replay: hint !== undefined }, now),
    };
  }

  /** The service tells how a request ended, or that a delivery was given up. */
  tell(name: string, now: number): EventModel {
    const came = { source: 'service', body: '', providerId: null, replay: false };
    return this.#add({ ...came, name }, now);
  }

  /** In which order events of the service came at once is for the product to choose. */
  adoptOrder(names: readonly string[]): void {
    const wanted = names.flatMap((name) => this.find(name) ?? []);
    for (const [index, { name }] of this.events.entries()) {
      const next = names.includes(name) ? wanted.shift() : undefined;
      if (next) this.events[index] = next;
    }
  }

  /** Arrival order is the order of time, whatever the clock does. */
  #add(
    came: Pick<EventModel, 'name' | 'source' | 'body' | 'providerId' | 'replay'>,
    now: number,
  ): EventModel {
    const receivedAt = Math.max(now, this.events.at(-1)?.receivedAt ?? 0);
    const event = new EventModel(this.#rules, { ...came, receivedAt });
    this.events.push(event);
    return event;
  }

  find(name: string): EventModel | undefined {
    return this.events.find((one) => one.name === name);
  }

  /** The oldest pending event that nobody pushes. */
  first(now: number, source?: string): EventModel | null {
    const fits = (one: EventModel): boolean => {
      const seen = one.at(now);
      return (
        seen.status === 'pending' && !seen.routed && (source === undefined || one.source === source)
      );
    };
    return this.events.find(fits) ?? null;
  }

  /** Writes down what time has done, and deletes old payloads. Answers the entries of the ledger. */
  tick(now: number): string[] {
    const entries: string[] = [];
    const due = this.events.filter((one) => one.at(now) !== one.written);
    for (const event of due.toSorted((a, b) => (a.written.due ?? 0) - (b.written.due ?? 0))) {
      const op = event.written.status === 'claimed' ? 'lease.expired' : 'event.retried';
      event.written = event.at(now);
      entries.push(`${op} ${event.name} ok`);
    }
    return [...entries, ...this.purge(now)];
  }

  /** A day's worth may be much: a hundred go in one piece, with an entry each. */
  purge(now: number): string[] {
    const old = this.events.filter(
      (one) => !one.purged && one.receivedAt < now - this.#rules.retentionMs,
    );
    for (const event of old) event.purged = true;
    return Array.from({ length: Math.ceil(old.length / 100) }, () => 'payload.purged - ok');
  }
}
