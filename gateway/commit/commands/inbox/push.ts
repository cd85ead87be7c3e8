import { isoTime } from '../../../../shared/lib/clock.ts';
import { disableRoute } from '../../../../shared/operations/route/close.ts';
import {
  RELEASE_PORTION,
  releaseDeliveries,
  settleEvent,
} from '../../../../shared/operations/route/release.ts';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import { keptSince } from '../../../../shared/rules/inbox/retention.ts';
import {
  isSuccess,
  judge,
  type AttemptOutcome,
} from '../../../../shared/rules/inbox/retry-schedule.ts';
import { SERVICE_SOURCE } from '../../../../shared/rules/inbox/source-name.ts';
import type { AttemptRow, DeliveryRow } from '../../../../shared/store/tables/inbox/deliveries.ts';
import type { Deletion, Job, Command } from '../../context/job.ts';
import { approvalContext } from '../../context/approval-context.ts';

/** One delivery attempt and its result. */
export interface Attempt {
  readonly deliveryId: string;
  /** When the attempt started and ended. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: AttemptOutcome;
  /** Random, from 0 to 1: spreads the retries of deliveries that failed together. */
  readonly jitter: number;
}

const GONE_REASON = 'The receiver answered 410 Gone.';
const EXHAUSTED = 'delivery.exhausted';

/** Records attempts and applies their consequences. Many share one transaction. */
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

/** Returns when the next attempt is due; null if there won't be one. */
async function recordOne(job: Job, attempt: Attempt): Promise<number | null> {
  const { store } = job;
  const row = await store.deliveries.find(attempt.deliveryId);
  if (!row) return null;
  const attempts = row.attempts + 1;
  await store.deliveries.addAttempt(row.id, logEntry(attempts, attempt));
  // Its route was removed or disabled during the attempt, and that change stands.
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
    // A text column can't hold U+0000.
    response: answered ? outcome.response.replaceAll('\0', '\u{FFFD}') : null,
  };
}

function problemOf(status: number): string | null {
  return isSuccess(status) ? null : `The receiver answered ${status}.`;
}

/**
 * A success gets no ledger entry: the route's log shows it, and an entry would cost as much as everything else here.
 */
async function finish(
  job: Job,
  { id, event_seq, attempts, route_id }: DeliveryRow,
  status: 'delivered' | 'dead',
  now: number,
): Promise<void> {
  await job.store.deliveries.finish(id, { status, attempts, nowIso: isoTime(now) });
  if (route_id !== null) await settleEvent(approvalContext(job, now, SERVICE), event_seq);
}

/** Gives up: the inbox and other routes get an event, except routes to the same destination. */
async function giveUp(job: Job, row: DeliveryRow, { endedAt: now, outcome }: Attempt) {
  const { store, ledgerWriter } = job;
  await finish(job, row, 'dead', now);
  const { id, event_seq, attempts, route_id, request_id, url, destination } = row;
  const event = await store.deliveries.eventOf(event_seq);
  const inputDigest = ledgerWriter.digest({ delivery: id, route_id, request_id, url, attempts });
  const action = { actor: SERVICE, op: 'delivery.dead', subject: event?.id ?? null, inputDigest };
  await ledgerWriter.record(store, action, now);
  // A failed `delivery.exhausted` event produces no other one, or two dead receivers would never stop.
  if (!event || (event.source === SERVICE_SOURCE && event.type === EXHAUSTED)) return;
  await approvalContext(job, now, SERVICE).writeEvent({
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

/**
 * The receiver wants no more events: disables the route and returns its pending events to the inbox for agents to
 * claim.
 */
async function closeRoute(job: Job, row: DeliveryRow, attempt: Attempt): Promise<void> {
  const { store, ledgerWriter } = job;
  const { endedAt: now } = attempt;
  if (row.route_id === null) return giveUp(job, row, attempt);
  await store.deliveries.retryAt(row.id, row.attempts, now);
  const context = approvalContext(job, now, SERVICE);
  const route = await store.routes.find(row.route_id);
  if (!route) {
    // Somebody removed the route during the attempt.
    await releaseDeliveries(context, row.route_id, RELEASE_PORTION);
    return;
  }
  const event = await store.deliveries.eventOf(row.event_seq);
  const why = { reason: GONE_REASON, eventId: event?.id ?? null };
  if (await disableRoute(context, route, why)) {
    await ledgerWriter.record(
      store,
      { actor: SERVICE, op: 'route.disabled', subject: route.id },
      now,
    );
  }
}

/** Returns pending events of closed routes to the inbox; answers how many, and 0 once all are back. */
export const releaseRoutes: Command<{ readonly now: number }, number> = {
  async run(job, { now }) {
    const routeId = await job.store.routes.closedWithPending();
    return routeId === null
      ? 0
      : releaseDeliveries(approvalContext(job, now, SERVICE), routeId, RELEASE_PORTION);
  },
};

/** Deletes the log of old deliveries, which holds receivers' answers; returns how many. */
export const dropDeliveries: Command<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => store.deliveries.deleteFinished(keptSince(asOf), limit),
};
