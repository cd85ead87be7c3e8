import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { evenJson } from '../../rules/canonical-json.ts';
import { misfitOf, type Misfit } from '../../rules/requests/spend.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { closeUsed } from './close-outcome.ts';
import { spentFacts } from './facts.ts';

const HINTS: Readonly<Record<Misfit, string>> = {
  not_approved: 'Only an approval that a person or the policy gave can be used.',
  other_event: 'The approval is about another event, or about none.',
  other_values:
    'Pass as bind exactly the values that the request bound (20 is 20.0, but not "20"); leave it out if the request bound none.',
  other_key:
    "Use it with the key that asked, the key that holds the event's lease, or an admin key.",
  spent: 'An approval is good for one use. Ask again for another one.',
  unused: 'The key that asked said that the approval came too late to be used. Ask again.',
  expired: 'An approval must be used within 24 hours of the decision. Ask again.',
};

/** An act, as the caller names it. */
export interface Act {
  readonly requestId: string;
  /** The event that the act finishes. */
  readonly eventId?: string;
  /** The values that were done, as canonical JSON. */
  readonly bind: string | undefined;
}

/** The approval an act names; APPROVAL_NOT_APPLICABLE where it doesn't cover it. */
export async function fittingApproval(context: WriteContext, act: Act): Promise<RequestRow> {
  const { store, now } = context;
  const { requestId, eventId, bind } = act;
  const row = await store.requests.find(requestId);
  if (!row) throw notFound(`request ${requestId}`);
  const misfit = misfitOf({ ...row, bind: evened(row.bind) }, { now, eventId, bind: evened(bind) });
  if (misfit !== null) throw notApplicable(misfit, row);
  return row;
}

/** What's bound and what's done may write the same number in two ways, such as 20 and 20.0. */
function evened(bind: string | null | undefined): string | null {
  return bind === null || bind === undefined ? null : evenJson(bind);
}

export function notApplicable(reason: Misfit, { id }: Pick<RequestRow, 'id'>): ServiceError {
  const details = { reason, request_id: id };
  return new ServiceError('APPROVAL_NOT_APPLICABLE', { hint: HINTS[reason], details });
}

/** Uses an approval that fits, once, and records what was done with it. */
export async function spend(
  context: WriteContext,
  approval: RequestRow,
  { spentBy, result }: { readonly spentBy: string; readonly result: string | undefined },
): Promise<{ spent_at: string; spent_by: string }> {
  const { store, caller, now, record } = context;
  const { id, event_id: eventId } = approval;
  if (!(await store.requests.redeem(id, spentBy, now))) throw notApplicable('spent', approval);
  await closeUsed(context, approval);
  const event = eventId === null ? undefined : await store.events.find(eventId);
  const about = spentFacts(approval, event, { by: spentBy, keyId: caller.keyId, result });
  await record('approval.spent', id, about, { eventId });
  return { spent_at: isoTime(now), spent_by: spentBy };
}
