import type { LongContext } from '../../kernel/context.ts';
import { notFound } from '../../lib/errors.ts';
import { effectiveRequestStatus } from '../../rules/request-state.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestRow } from '../../store/requests.ts';

/** A wait that ends with its request ends this much behind it, so that the clock has surely come that far. */
const BEHIND_EXPIRY_MS = 20;

/**
 * The request when it is decided, or as it stands after so many seconds, and not before that unless it has expired. It
 * outlives the caller: who leaves loses the answer, not the request.
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
    look: async (store, now) => {
      const row = await seen(store, now);
      return row.status === 'pending' ? null : row;
    },
  });
  if (decided) return decided;
  // How it ended, or how time went on, is not to be guessed from how long was to be waited: the wait may have been cut short.
  const last = await context.waitFor({
    counted: false,
    timeoutSeconds: 0,
    concerns: () => false,
    look: seen,
  });
  return last ?? first;
}
