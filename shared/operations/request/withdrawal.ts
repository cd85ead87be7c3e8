import type { ApprovalContext } from '../../kernel/context.ts';
import { unusedHint, withdrawnHint } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { closeNotices, resolveRequest } from './resolve.ts';

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

/** The kinds whose answer has no effect but what the agent does with it. */
const FOR_THE_AGENT: readonly string[] = ['approval', 'question'];

/** Shows whoever decided that their decision came too late for the agent. It stands all the same. */
export async function sayUnused(
  context: ApprovalContext,
  { id, kind, hint, decided_by: by, redeemed_at: usedAt }: RequestRow,
  reason: string,
): Promise<void> {
  const isPersons = by?.startsWith('channel:') === true && hint === null;
  if (!isPersons || usedAt !== null || !FOR_THE_AGENT.includes(kind)) return;
  await context.store.requests.setHint(id, unusedHint(reason));
  await closeNotices(context, id);
  context.emit({ kind: 'request_ended', id });
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
