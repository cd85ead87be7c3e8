import type { ApprovalContext } from '../../kernel/context.ts';
import { withdrawnHint } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { resolveRequest } from './resolve.ts';

/** Ends a pending request without an answer; false when it had ended before. */
export function withdraw(
  context: ApprovalContext,
  request: RequestRow,
  reason: string,
): Promise<boolean> {
  return resolveRequest(context, request, {
    status: 'expired',
    decision: null,
    comment: null,
    decidedBy: null,
    hint: withdrawnHint(reason),
    isWithdrawn: true,
  });
}

/** Withdraws the open questions of an event, but for those it waits for. */
export async function withdrawQuestionsOf(
  context: ApprovalContext,
  eventId: string,
  { except = [], reason }: { readonly except?: readonly string[]; readonly reason: string },
): Promise<void> {
  for (const request of await context.store.requests.pendingOf(eventId, context.now)) {
    if (!except.includes(request.id)) await withdraw(context, request, reason);
  }
}
