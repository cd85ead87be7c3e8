import { isoTime } from '../../shared/lib/clock.ts';
import { disableRoute } from '../../shared/operations/route/close.ts';
import {
  RELEASE_PORTION,
  releaseDeliveries,
  settleEvent,
} from '../../shared/operations/route/release.ts';
import { keptSince } from '../../shared/rules/retention.ts';
import { isSuccess, judge, type AttemptOutcome } from '../../shared/rules/retry-schedule.ts';
import { SERVICE_SOURCE } from '../../shared/rules/source-name.ts';
import type { AttemptRow, DeliveryRow } from '../../shared/store/deliveries.ts';
import type { Deletion, Job, Command } from './job.ts';
import { approvalContext } from './approval-context.ts';

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
const EXHAUSTED = 'delivery.exhausted';

/** Writes down how attempts went, and what follows from it. Many at once share a transaction. */
export const recordAttempts: Command<readonly Attempt[], null> = {
  async run(job, attempts) {
    const dueTimes = new Set<number>();
    for (const attempt of attempts) {
      const dueAt = await recordOne(job, attempt);
      if (dueAt !== null) dueTimes.add(dueAt);
    }
    for (const at of dueTimes) job.emit({ kind: 'due', at });
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
      await giveUp(job, counted, attempt);
      return null;
    case 'gone':
      await closeRoute(job, counted, attempt);
      return null;
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

/** A good end has no entry in the ledger: it stands in the log of the route, and an entry would cost as much as all the rest. */
async function finish(
  { store }: Job,
  { id, event_seq, attempts, route_id }: DeliveryRow,
  status: 'delivered' | 'dead',
  now: number,
): Promise<void> {
  const nowIso = isoTime(now);
  await store.deliveries.finish(id, { status, attempts, nowIso });
  if (route_id !== null) await settleEvent(store, event_seq, nowIso);
}

/** Nobody tries it again by itself: the inbox is told, and other routes, but not those to the same destination. */
async function giveUp(job: Job, row: DeliveryRow, { endedAt: now, outcome }: Attempt) {
  const { store, ledgerWriter } = job;
  await finish(job, row, 'dead', now);
  const { id, event_seq, attempts, route_id, request_id, url, destination } = row;
  const event = await store.deliveries.eventOf(event_seq);
  const inputDigest = ledgerWriter.digest({ delivery: id, route_id, request_id, url, attempts });
  const action = { op: 'delivery.dead', subject: event?.id ?? null, inputDigest };
  await ledgerWriter.record(store, action, now);
  // What tells of a failure and fails as well is told of no more: two dead receivers would have no end of it.
  if (!event || (event.source === SERVICE_SOURCE && event.type === EXHAUSTED)) return;
  await approvalContext(job, now).writeEvent({
    type: EXHAUSTED,
    payload: {
      delivery_id: id,
      event_id: event.id,
      route_id,
      request_id,
      callback_url: url,
      attempts,
      status_code: outcome.kind === 'answered' ? outcome.status : null,
      error: outcome.kind === 'answered' ? problemOf(outcome.status) : outcome.reason,
      at: isoTime(now),
    },
    callback: null,
    exceptTo: destination,
  });
}

/** The receiver wants nothing more: the route ends, and what it had under way goes back for agents to claim. */
async function closeRoute(job: Job, row: DeliveryRow, attempt: Attempt): Promise<void> {
  const { store, ledgerWriter } = job;
  const { endedAt: now } = attempt;
  if (row.route_id === null) return giveUp(job, row, attempt);
  await store.deliveries.retryAt(row.id, row.attempts, now);
  const context = approvalContext(job, now);
  const route = await store.routes.find(row.route_id);
  if (!route) {
    // It was removed meanwhile.
    await releaseDeliveries(context, row.route_id, RELEASE_PORTION);
    return;
  }
  const event = await store.deliveries.eventOf(row.event_seq);
  const why = { reason: GONE_REASON, eventId: event?.id ?? null };
  if (await disableRoute(context, route, why)) {
    await ledgerWriter.record(store, { op: 'route.disabled', subject: route.id }, now);
  }
}

/** Gives back what closed routes still have under way; answers how many were given back, 0 when that was all. */
export const releaseRoutes: Command<{ readonly now: number }, number> = {
  async run(job, { now }) {
    const routeId = await job.store.routes.closedWithPending();
    return routeId === null
      ? 0
      : releaseDeliveries(approvalContext(job, now), routeId, RELEASE_PORTION);
  },
};

/** Deletes the log of old deliveries, which holds what receivers answered; answers how many went. */
export const dropDeliveries: Command<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => store.deliveries.deleteFinished(keptSince(asOf), limit),
};
