/**
 * The states of a received event (spec section 3.1). Every function is pure; the store writes `next`. A time equal to
 * `due_at` counts as past it; in SQL, `due_at <= now`.
 */

import type { ParkVerdict } from './park.ts';

export type EventStatus = 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting';

/** The fields of an event that the rules need. Times are integer milliseconds. */
export interface EventQueueRow {
  status: EventStatus;
  /** Failures so far: nacks and expired leases. */
  attempts: number;
  /** The active lease; on a done event, the lease that finished it; otherwise null. */
  lease_id: string | null;
  /**
   * The key that holds the lease; after the lease expires, its last holder; on a done event, the key that finished it.
   */
  holder_key_id: string | null;
  /** Claimed: when the lease ends. Failed: when to retry. Waiting: when time alone wakes it. Otherwise null. */
  due_at: number | null;
  /** A route delivers this event, so agents can't pull it. */
  routed: boolean;
}

export type EventStateCode =
  | 'EVENT_NOT_CLAIMABLE'
  | 'EVENT_ROUTED'
  | 'LEASE_NOT_HELD'
  | 'LEASE_EXPIRED';

type Refusal = { ok: false; code: EventStateCode };
type Transition = { ok: true; next: EventQueueRow };

/** The caller of ack, nack and extend. `leaseId` tells apart workers that share a key. */
interface LeaseCaller {
  now: number;
  keyId: string;
  leaseId?: string | undefined;
}

/** An event is dead after this many failures. */
export const MAX_ATTEMPTS = 5;

const RETRY_FIRST_MS = 30_000;
const RETRY_MAX_MS = 3_600_000;

/** The wait after this many failures (1 or more): 30 s, 1 min, 2 min, 4 min, … 1 h. */
export function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** (attempts - 1), RETRY_MAX_MS);
}

/**
 * The row as it stands at `now`, even before a sweep updates it: an expired lease counts as an attempt, and after its
 * backoff a failed event is pending again. Returns the same object if nothing is due.
 */
export function effective(row: EventQueueRow, now: number): EventQueueRow {
  if (row.due_at === null || row.due_at > now) return row;
  if (row.status === 'failed') return { ...row, status: 'pending', due_at: null };
  if (row.status === 'waiting') return wake(row);
  if (row.status !== 'claimed') return row;
  const attempts = row.attempts + 1;
  const status = attempts >= MAX_ATTEMPTS ? 'dead' : 'pending';
  return { ...row, status, attempts, lease_id: null, due_at: null };
}

/** pending → claimed, for `leaseSeconds` from now. */
export function claim(
  row: EventQueueRow,
  caller: { now: number; leaseSeconds: number; keyId: string; leaseId: string },
): Transition | Refusal {
  const current = effective(row, caller.now);
  if (current.routed) return refuse('EVENT_ROUTED');
  if (current.status !== 'pending') return refuse('EVENT_NOT_CLAIMABLE');
  return moved({
    ...current,
    status: 'claimed',
    lease_id: caller.leaseId,
    holder_key_id: caller.keyId,
    due_at: caller.now + caller.leaseSeconds * 1000,
  });
}

/** claimed → done. `repeat` means that this key already finished the event: keep the stored result. */
export function ack(
  row: EventQueueRow,
  caller: LeaseCaller,
): (Transition & { repeat: boolean }) | Refusal {
  const current = effective(row, caller.now);
  if (isOwnAck(current, caller)) return { ok: true, next: current, repeat: true };
  const code = leaseFault(current, caller);
  if (code !== null) return refuse(code);
  return { ok: true, next: { ...current, status: 'done', due_at: null }, repeat: false };
}

/** claimed → failed with a retry time in `next.due_at`; or dead, on the fifth failure or without retry. */
export function nack(
  row: EventQueueRow,
  caller: LeaseCaller & { retry: boolean },
): Transition | Refusal {
  const current = effective(row, caller.now);
  const code = leaseFault(current, caller);
  if (code !== null) return refuse(code);
  const attempts = current.attempts + 1;
  // The holder gave the lease back, so a later call with it must not get LEASE_EXPIRED.
  const released = { ...current, attempts, lease_id: null, holder_key_id: null };
  if (!caller.retry || attempts >= MAX_ATTEMPTS) {
    return moved({ ...released, status: 'dead', due_at: null });
  }
  return moved({ ...released, status: 'failed', due_at: caller.now + retryDelayMs(attempts) });
}

/** claimed → waiting, or pending where what it would wait for has ended. Not a failure. */
export function park(
  row: EventQueueRow,
  caller: LeaseCaller & { verdict: ParkVerdict },
): Transition | Refusal {
  const current = effective(row, caller.now);
  const code = leaseFault(current, caller);
  if (code !== null) return refuse(code);
  const { verdict } = caller;
  const released = { ...current, lease_id: null, holder_key_id: null };
  if (verdict.wakes) return moved(wake(released));
  return moved({ ...released, status: 'waiting', due_at: verdict.dueAt });
}

/** claimed → pending at once. Not a failure: a worker that shuts down gives back what it holds. */
export function giveBack(row: EventQueueRow, caller: LeaseCaller): Transition | Refusal {
  const current = effective(row, caller.now);
  const code = leaseFault(current, caller);
  if (code !== null) return refuse(code);
  return moved({
    ...current,
    status: 'pending',
    lease_id: null,
    holder_key_id: null,
    due_at: null,
  });
}

/** waiting → pending: earlier failures no longer count. */
export function wake(row: EventQueueRow): EventQueueRow {
  return { ...row, status: 'pending', attempts: 0, due_at: null };
}

/** Makes a live lease end `leaseSeconds` from now, which may also shorten it. */
export function extend(
  row: EventQueueRow,
  caller: LeaseCaller & { leaseSeconds: number },
): Transition | Refusal {
  const current = effective(row, caller.now);
  const code = leaseFault(current, caller);
  if (code !== null) return refuse(code);
  return moved({ ...current, due_at: caller.now + caller.leaseSeconds * 1000 });
}

/** dead or waiting → pending with a fresh count. Expects an effective row: it doesn't look at the time. */
export function requeue(row: EventQueueRow): Transition | Refusal {
  if (row.status !== 'dead' && row.status !== 'waiting') return refuse('EVENT_NOT_CLAIMABLE');
  return moved(fresh(row));
}

/** dead or done → pending with a fresh count. Expects an effective row: it doesn't look at the time. */
export function replay(row: EventQueueRow): Transition | Refusal {
  if (row.routed) return refuse('EVENT_ROUTED');
  if (row.status !== 'dead' && row.status !== 'done') return refuse('EVENT_NOT_CLAIMABLE');
  return moved(fresh(row));
}

/** claimed → pending at once, by a person: the worker has lost the lease. Not a failure. Expects an effective row. */
export function release(row: EventQueueRow): Transition | Refusal {
  if (row.routed) return refuse('EVENT_ROUTED');
  if (row.status !== 'claimed') return refuse('EVENT_NOT_CLAIMABLE');
  return moved({ ...row, status: 'pending', lease_id: null, holder_key_id: null, due_at: null });
}

/** Any state in which nobody works on it → done, by a person. Expects an effective row. */
export function finish(row: EventQueueRow): Transition | Refusal {
  if (row.routed) return refuse('EVENT_ROUTED');
  if (row.status === 'claimed' || row.status === 'done') return refuse('EVENT_NOT_CLAIMABLE');
  return moved({ ...row, status: 'done', lease_id: null, holder_key_id: null, due_at: null });
}

/** pending → done: whom it tells knows it. Only where nobody has worked on it. Expects an effective row. */
export function settle(row: EventQueueRow): Transition | Refusal {
  if (row.routed) return refuse('EVENT_ROUTED');
  if (row.status !== 'pending' || row.attempts > 0) return refuse('EVENT_NOT_CLAIMABLE');
  return moved({ ...row, status: 'done', due_at: null });
}

function fresh(row: EventQueueRow): EventQueueRow {
  return {
    ...row,
    status: 'pending',
    attempts: 0,
    lease_id: null,
    holder_key_id: null,
    due_at: null,
  };
}

function isOwnAck(row: EventQueueRow, caller: LeaseCaller): boolean {
  return (
    !row.routed &&
    row.status === 'done' &&
    row.holder_key_id === caller.keyId &&
    (caller.leaseId === undefined || caller.leaseId === row.lease_id)
  );
}

/** Why the caller can't use the lease of this effective row, or null if it holds the lease. */
export function leaseFault(row: EventQueueRow, caller: LeaseCaller): EventStateCode | null {
  if (row.routed) return 'EVENT_ROUTED';
  const sameKey = row.holder_key_id === caller.keyId;
  if (row.status === 'claimed') {
    const sameLease = caller.leaseId === undefined || caller.leaseId === row.lease_id;
    return sameKey && sameLease ? null : 'LEASE_NOT_HELD';
  }
  // A pending event with a holder had a lease that expired, and nobody has claimed the event since.
  if (row.status === 'pending' && row.holder_key_id !== null) {
    return sameKey ? 'LEASE_EXPIRED' : 'LEASE_NOT_HELD';
  }
  return 'EVENT_NOT_CLAIMABLE';
}

function moved(next: EventQueueRow): Transition {
  return { ok: true, next };
}

function refuse(code: EventStateCode): Refusal {
  return { ok: false, code };
}
