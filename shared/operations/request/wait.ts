import type { LongContext } from '../../kernel/context.ts';
import { notFound } from '../../lib/errors.ts';
import { effectiveRequestStatus } from '../../rules/requests/request-state.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';

/** Wait this much past the expiry, so that the clock has certainly reached it. */
const BEHIND_EXPIRY_MS = 20;

/**
 * Returns the request once it is decided or expires, or as it is after `waitSeconds`. If the caller disconnects, it
 * loses only the answer, not the request. NOT_FOUND.
 */
export async function waitForDecision(
  context: LongContext,
  requestId: string,
  waitSeconds: number,
): Promise<RequestRow> {
  const seen = async (store: Repositories, now: number): Promise<RequestRow> => {
    const row = await store.requests.find(requestId);
    if (!row) throw notFound(`request ${requestId}`);
    return { ...row, status: effectiveRequestStatus(row, now) };
  };
  const first = await context.read((store) => seen(store, context.now));
  if (waitSeconds === 0 || first.status !== 'pending') return first;
  const untilExpiryMs = first.expires_at - context.now + BEHIND_EXPIRY_MS;
  const decided = await context.waitFor({
    counted: false,
    timeoutSeconds: Math.min(waitSeconds, untilExpiryMs / 1000),
    concerns: (change) => change.kind === 'request' && change.id === requestId,
    check: async (store, now) => {
      const row = await seen(store, now);
      return row.status === 'pending' ? null : row;
    },
  });
  if (decided) return decided;
  // Read the request and the time again: the wait may have been cut short, so we can't infer either from its length.
  const last = await context.waitFor({
    counted: false,
    timeoutSeconds: 0,
    concerns: () => false,
    check: seen,
  });
  return last ?? first;
}
