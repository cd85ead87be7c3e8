import type { EventModel } from './event-model.ts';
import type { Rules } from './rules.ts';

/** One event on its way to the route's receiver. */
export interface Push {
  readonly event: EventModel;
  readonly route: string;
  readonly createdAt: number;
  status: 'pending' | 'delivered' | 'dead' | 'cancelled';
  attempts: number;
  /** Attempts of earlier rounds. */
  before: number;
  /** When the next attempt is due; a failure leaves a range, in which the product chooses. */
  due: number;
  within: readonly [from: number, to: number] | null;
}

/** The name of the event that reports an abandoned delivery. */
export function lossOf(event: string, attempts: number): string {
  return `loss of ${event} after ${attempts}`;
}

/** Pauses are spread by up to a tenth, and end on a whole second. */
const SPREAD = 1.1;
const SECOND_MS = 1000;

/** A route's deliveries by the specification, without the code under test. */
export class PushModel {
  readonly pushes: Push[] = [];
  /** The open route, or null. */
  route: string | null = 'route#0';
  /** Whether the receiver takes what comes. */
  isUp = true;
  readonly #rules: Rules;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** The route takes an event that has just come: nobody may pull it. */
  take(event: EventModel, now: number): void {
    if (this.route === null) return;
    event.written = { ...event.written, routed: true };
    const began = { attempts: 0, before: 0, due: now, within: null, createdAt: now };
    this.pushes.push({ event, route: this.route, status: 'pending', ...began });
  }

  /** Tries everything due. Returns the tried and the abandoned pushes, and the ledger's entries. */
  attempt(now: number): { tried: string[]; lost: string[]; entries: string[] } {
    const due = this.pushes.filter((one) => one.status === 'pending' && one.due <= now);
    const entries = due.flatMap((push) => this.#try(push, now));
    const dead = due.filter(({ status }) => status === 'dead');
    const lost = dead.map(({ event, attempts }) => lossOf(event.name, attempts));
    return { tried: due.map(({ event }) => event.name), lost, entries };
  }

  #try(push: Push, now: number): string[] {
    const { event } = push;
    push.attempts += 1;
    if (this.isUp) {
      push.status = 'delivered';
      event.written = { ...event.written, status: 'done' };
      return [];
    }
    event.written = { ...event.written, attempts: event.written.attempts + 1 };
    const pauseMs = this.#rules.pushPausesMs[push.attempts - push.before - 1];
    if (pauseMs !== undefined) {
      const to = Math.ceil((now + pauseMs * SPREAD) / SECOND_MS) * SECOND_MS;
      push.within = [now + pauseMs, to];
      return [];
    }
    push.status = 'dead';
    event.written = { ...event.written, status: 'dead', routed: false };
    return [`delivery.dead ${event.name} ok`];
  }

  /** Starts a new round for abandoned pushes whose events nobody took, and hurries the rest. Returns how many. */
  retry(now: number): number {
    const own = this.pushes.filter(({ route }) => route === this.route);
    const dead = own.filter(
      (push) =>
        push.status === 'dead' && push.event.written.status === 'dead' && this.isShown(push, now),
    );
    const waiting = own.filter(({ status, due }) => status === 'pending' && due > now);
    for (const push of dead) {
      push.status = 'pending';
      push.before = push.attempts;
      push.event.written = { ...push.event.written, status: 'pending', routed: true };
    }
    for (const push of [...dead, ...waiting]) push.due = now;
    return dead.length + waiting.length;
  }

  /** Closes the route: its open events can be pulled. */
  close(): void {
    for (const push of this.pushes) {
      if (push.status !== 'pending') continue;
      push.status = 'cancelled';
      push.event.written = { ...push.event.written, routed: false };
    }
    this.route = null;
  }

  /** Old finished pushes aren't shown, deleted or not. */
  isShown({ status, createdAt }: Push, now: number): boolean {
    return status === 'pending' || createdAt >= now - this.#rules.retentionMs;
  }

  /** Deletes old finished pushes, in order of arrival. */
  forget(now: number): void {
    const before = now - this.#rules.retentionMs;
    const finished = this.pushes.filter(({ status }) => status !== 'pending');
    if (!finished[0] || finished[0].createdAt >= before) return;
    const old = new Set(finished.filter(({ createdAt }) => createdAt < before));
    const kept = this.pushes.filter((push) => !old.has(push));
    this.pushes.splice(0, this.pushes.length, ...kept);
  }

  /** The next time at which something is due. */
  nextDue(): number | null {
    const times = this.pushes.flatMap(({ status, due }) => (status === 'pending' ? [due] : []));
    return times.length > 0 ? Math.min(...times) : null;
  }
}
