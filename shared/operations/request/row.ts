import { isoTime } from '../../lib/clock.ts';
import { REQUEST_DEFAULT_MS } from '../../lib/limits.ts';
import type { RequestKind } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';

/** A pending request; fields that aren't given get their defaults. */
export function pendingRequest(
  given: {
    readonly id: string;
    readonly kind: RequestKind;
    readonly summary: string;
  } & Partial<RequestRow>,
  now: number,
): RequestRow {
  return {
    status: 'pending',
    key_id: '',
    agent: null,
    platform: 'unknown',
    subject: '',
    action: null,
    details: null,
    risk: null,
    amount: null,
    question: null,
    options: '[]',
    proposal: null,
    decision: null,
    comment: null,
    hint: null,
    decided_by: null,
    approvers: '[]',
    policy_version: 0,
    rule: null,
    state_ref: null,
    callback_url: null,
    created_at: isoTime(now),
    expires_at: now + REQUEST_DEFAULT_MS,
    decided_at: null,
    redeemed_at: null,
    spent_by: null,
    event_id: null,
    bind: null,
    identity: null,
    approvals: 1,
    thread: null,
    lasts_until: null,
    ...given,
  };
}
