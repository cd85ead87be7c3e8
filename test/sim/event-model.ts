import type { Rules } from './rules.ts';

type Status = 'pending' | 'claimed' | 'done' | 'failed' | 'dead';

/** An event's stored state, or what time has made of it. */
interface ReplicationPosition {
  readonly status: Status;
  readonly attempts: number;
  /** Who holds the lease, held it when it ran out, or finished the event with it. */
  readonly holder: { readonly key: string; readonly lease: string } | null;
  /** When the lease or the backoff ends. */
  readonly due: number | null;
  /** Delivered by a route: nobody may pull it. */
  readonly routed: boolean;
}

/** Who acts on a lease; the lease is named where several workers share a key. */
export interface Holder {
  readonly key: string;
  readonly lease: string | undefined;
}

/** One event as the interface describes it, written down without the code under test. */
export class EventModel {
  readonly name: string;
  readonly source: string;
  readonly body: string;
  readonly providerId: string | null;
  readonly receivedAt: number;
  readonly replay: boolean;
  purged = false;
  finishedAt = 0;
  /** As last written down: time may have gone on since. */
  written: ReplicationPosition = {
    status: 'pending',
    attempts: 0,
    holder: null,
    due: null,
    routed: false,
  };
  readonly #rules: Rules;

  constructor(
    rules: Rules,
    came: Pick<EventModel, 'name' | 'source' | 'body' | 'providerId' | 'receivedAt' | 'replay'>,
  ) {
    this.#rules = rules;
    this.name = came.name;
    this.source = came.source;
    this.body = came.body;
    this.providerId = came.providerId;
    this.receivedAt = came.receivedAt;
    this.replay = came.replay;
  }

  /** A payload past its time is shown to nobody, deleted or not. */
  isPurgedAt(now: number): boolean {
    return this.purged || this.receivedAt < now - this.#rules.retentionMs;
  }

  /** Its state at `now`, after what time alone changed. */
  at(now: number): ReplicationPosition {
    const { written } = this;
    if (written.due === null || written.due + this.#rules.lateMs > now) return written;
    if (written.status === 'failed') return { ...written, status: 'pending', due: null };
    return { ...this.#failed(written), due: null };
  }

  bornDone(now: number): void {
    this.written = { ...this.written, status: 'done' };
    this.finishedAt = now;
  }

  claim(holder: { readonly key: string; readonly lease: string }, now: number, until: number) {
    const seen = this.at(now);
    if (seen.routed) return 'EVENT_ROUTED';
    if (seen.status !== 'pending') return 'EVENT_NOT_CLAIMABLE';
    this.written = { ...seen, status: 'claimed', holder, due: until };
    return 'ok';
  }

  /** `again`: it was done before, by the same. */
  ack(by: Holder, now: number): string {
    const seen = this.at(now);
    if (seen.status === 'done' && !seen.routed) {
      return this.#isHeld(seen, by) ? 'again' : 'EVENT_NOT_CLAIMABLE';
    }
    const code = this.#refusal(seen, by);
    if (code !== 'ok') return code;
    this.written = { ...seen, status: 'done', due: null };
    this.finishedAt = now;
    return 'ok';
  }

  nack(by: Holder, retry: boolean, now: number): string {
    const seen = this.at(now);
    const code = this.#refusal(seen, by);
    if (code !== 'ok') return code;
    const attempts = seen.attempts + 1;
    const given = { ...seen, attempts, holder: null };
    const isDead = !retry || attempts >= this.#rules.attemptsMax;
    const pauseMs = this.#rules.retryMs[attempts - 1] ?? 0;
    this.written = isDead
      ? { ...given, status: 'dead', due: null }
      : { ...given, status: 'failed', due: now + pauseMs };
    return 'ok';
  }

  extend(by: Holder, now: number, until: number): string {
    const seen = this.at(now);
    const code = this.#refusal(seen, by);
    if (code === 'ok') this.written = { ...seen, due: until };
    return code;
  }

  requeue(now: number): string {
    const seen = this.at(now);
    if (seen.status !== 'dead') return 'EVENT_NOT_CLAIMABLE';
    const attempts = this.#rules.requeueForgetsAttempts ? 0 : seen.attempts;
    this.written = { ...seen, status: 'pending', attempts, holder: null, due: null };
    return 'ok';
  }

  #failed(replication: ReplicationPosition): ReplicationPosition {
    const attempts = replication.attempts + (this.#rules.lapseCounts ? 1 : 0);
    return {
      ...replication,
      attempts,
      status: attempts >= this.#rules.attemptsMax ? 'dead' : 'pending',
    };
  }

  #isHeld({ holder }: ReplicationPosition, { key, lease }: Holder): boolean {
    if (!this.#rules.holderOnly) return true;
    const sameLease = lease === undefined || !this.#rules.fenced || holder?.lease === lease;
    return holder?.key === key && sameLease;
  }

  #refusal(seen: ReplicationPosition, by: Holder): string {
    if (seen.routed) return 'EVENT_ROUTED';
    if (seen.status === 'claimed') return this.#isHeld(seen, by) ? 'ok' : 'LEASE_NOT_HELD';
    if (seen.status !== 'pending' || seen.holder === null) return 'EVENT_NOT_CLAIMABLE';
    return seen.holder.key === by.key ? 'LEASE_EXPIRED' : 'LEASE_NOT_HELD';
  }
}
