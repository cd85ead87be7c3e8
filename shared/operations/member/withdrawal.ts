import type { ApprovalContext } from '../../kernel/context.ts';
import { withdrawnHint } from '../../rules/requests/request-state.ts';
import { resolveRequest } from '../request/resolve.ts';

/** Takes back what owners are asked about a member who is being removed. */
export async function withdrawChanges(context: ApprovalContext, memberId: string): Promise<void> {
  const asked = (await context.store.requests.pending(context.now)).filter(
    ({ kind, subject }) => kind === 'member' && subject === memberId,
  );
  for (const request of asked) {
    await resolveRequest(context, request, {
      status: 'denied',
      decision: null,
      comment: null,
      decidedBy: null,
      hint: withdrawnHint('the member was removed before an owner had decided.'),
    });
  }
}
