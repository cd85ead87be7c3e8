import { isoTime } from '../../shared/clock.ts';
import {
  RELEASE_PORTION,
  releaseDeliveries,
  settleEvent,
} from '../../shared/operations/route/release.ts';
import { keptSince } from '../../shared/rules/retention.ts';
import { isSuccess, judge, type AttemptOutcome } from '../../shared/rules/retry-schedule.ts';
import type { AttemptRow, DeliveryRow } from '../../shared/store/deliveries.ts';
import type { Deletion, Job, Procedure } from './job.ts';

/** One attempt to deliver, and how it went. */
export interface Attempt {
  readonly deliveryId: string;
  /** When it began and when it was over. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: AttemptOutcome;
  /** Random, from 0 to 1: spreads what failed together. */
  readonly jitter: number;
}

const GONE_REASON = 'The receiver answered 410 Gone.';

/** Writes down how attempts went, and what follows from it. Many at once share a transaction. */
export const recordAttempts: Procedure<readonly Attempt[], null> = {
  async run(job, attempts) {
    const dueTimes = new Set<number>();
    for (const attempt of attempts) {
      const dueAt = await recordOne(job, attempt);
      if (dueAt !== null) dueTimes.add(dueAt);
    }
    for (const at of dueTimes) job.tell({ kind: 'due', at });
    return null;
  },
  sizeBytes: (attempts) => attempts.reduce((sum, { outcome }) => sum + sizeOf(outcome), 0),
};

function sizeOf(outcome: AttemptOutcome): number {
  return outcome.kind === 'answered' ? outcome.response.length : outcome.reason.length;
}

/** Answers when the next attempt is due, if there is to be one. */
async function recordOne(job: Job, attempt: Attempt): Promise<number | null> {
  const { store } = job;
  const row = await store.deliveries.find(attempt.deliveryId);
  if (!row) return null;
  const attempts = row.attempts + 1;
  await store.deliveries.addAttempt(row.id, logEntry(attempts, attempt));
  // Its route was removed or disabled while it was under way: that stands.
  if (row.status !== 'pending') return null;
  const { outcome, endedAt: now, jitter } = attempt;
  const verdict = judge(outcome, { nth: attempts - row.attempts_before, now, jitter });
  const counted = { ...row, attempts };
  if (verdict.kind !== 'delivered' && row.route_id !== null) {
    await store.deliveries.countFailure(row.event_seq);
  }
  switch (verdict.kind) {
    case 'delivered':
      await finish(job, counted, 'delivered', now);
      return null;
    case 'retry':
      await store.deliveries.retryAt(row.id, attempts, verdict.dueAt);
      return verdict.dueAt;
    case 'dead':
      await finish(job, counted, 'dead', now);
      return null;
    case 'gone':
      return closeRoute(job, counted, now);
  }
}

function logEntry(attempt: number, { startedAt, outcome }: Attempt): AttemptRow {
  const answered = outcome.kind === 'answered';
  return {
    attempt,
    at: isoTime(startedAt),
    status_code: answered ? outcome.status : null,
    duration_ms: outcome.durationMs,
    error: answered ? problemOf(outcome.status) : outcome.reason,
    // A row cannot hold the first of all characters in a text.
    response: answered ? outcome.response.replaceAll('\0', '\u{FFFD}') : null,
  };
}

function problemOf(status: number): string | null {
  return isSuccess(status) ? null : `The receiver answered ${status}.`;
}

/**
 * Only the bad end is an entry in the ledger: the good one stands in the log of the route, and an entry for each would cost
 * the writer as much as all the rest of it.
 */
async function finish(
  { store, recorder }: Job,
  row: DeliveryRow,
  status: 'delivered' | 'dead',
  now: number,
): Promise<void> {
  const { id, event_seq, attempts, route_id, request_id, url } = row;
  const nowIso = isoTime(now);
  await store.deliveries.finish(id, { status, attempts, nowIso });
  if (route_id !== null) await settleEvent(store, event_seq, nowIso);
  if (status === 'delivered') return;
  const event = await store.deliveries.eventOf(event_seq);
  const inputDigest = recorder.digest({ delivery: id, route_id, request_id, url, attempts });
  const action = { op: 'delivery.dead', subject: event?.id ?? null, inputDigest };
  await recorder.record(store, action, now);
}

/** The receiver wants nothing more: the route ends, and what it had under way goes back to whoever pulls. */
async function closeRoute(job: Job, row: DeliveryRow, now: number): Promise<number | null> {
  const { store, routing, recorder, tell } = job;
  const { route_id } = row;
  if (route_id === null) {
    await finish(job, row, 'dead', now);
    return null;
  }
  await store.deliveries.retryAt(row.id, row.attempts, now);
  if (await store.routes.disable(route_id, `${GONE_REASON} (${isoTime(now)})`)) {
    routing.changed(store);
    tell({ kind: 'callbacks_changed' });
    await recorder.record(store, { op: 'route.disabled', subject: route_id }, now);
  }
  const released = await release(job, route_id, now);
  return released === RELEASE_PORTION ? now : null;
}

function release({ store, tell }: Job, routeId: string, now: number): Promise<number> {
  const eventReady = (event: { source: string; type: string }): void =>
    tell({ kind: 'event_ready', ...event });
  return releaseDeliveries({ store, now, eventReady }, routeId, RELEASE_PORTION);
}

/** Gives back what closed routes still have under way; answers how many were given back, 0 when that was all. */
export const releaseRoutes: Procedure<{ readonly now: number }, number> = {
  async run(job, { now }) {
    const routeId = await job.store.routes.closedWithPending();
    return routeId === null ? 0 : release(job, routeId, now);
  },
};

/** Deletes the log of old deliveries, which holds what receivers answered; answers how many went. */
export const dropDeliveries: Procedure<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => store.deliveries.deleteFinished(keptSince(asOf), limit),
};
