import { APPROVAL_USE_MS } from '../../lib/limits.ts';
import { effectiveRequestStatus, unusedBecause } from './request-state.ts';

/** Why an approval doesn't fit an act. */
export type Misfit =
  | 'not_approved'
  | 'other_event'
  | 'other_values'
  | 'other_key'
  | 'spent'
  | 'unused'
  | 'expired';

/** What the rule needs of a request. */
interface Approval {
  readonly kind: string;
  readonly status: string;
  readonly hint: string | null;
  readonly expires_at: number;
  readonly decided_at: number | null;
  readonly redeemed_at: number | null;
  readonly spent_by: string | null;
  readonly event_id: string | null;
  /** JSON text as of `evenJson`, as is the one below. */
  readonly bind: string | null;
}

/** The act that wants to use it. */
interface Act {
  readonly now: number;
  /** The event that the act finishes; undefined for an act without one. */
  readonly eventId: string | undefined;
  /** The values that were done; undefined where none are named. */
  readonly bind: string | null | undefined;
}

const APPROVED: readonly string[] = ['approved', 'modified'];

/**
 * Why the approval doesn't cover the act, or null. Values must be the bound ones: leaving them out doesn't fit an approval
 * that binds values, and naming some doesn't fit one that binds none.
 */
export function misfitOf(approval: Approval, { now, eventId, bind = null }: Act): Misfit | null {
  const status = effectiveRequestStatus(approval, now);
  const { kind, decided_at: decidedAt } = approval;
  const isApproved = kind === 'approval' && APPROVED.includes(status);
  if (!isApproved || decidedAt === null) return 'not_approved';
  if (eventId !== undefined && approval.event_id !== eventId) return 'other_event';
  if (approval.bind !== bind) return 'other_values';
  // An ack that comes again finds the approval used by its event.
  if (approval.redeemed_at !== null) return approval.spent_by === eventId ? null : 'spent';
  // Whoever approved was told that it came too late.
  if (unusedBecause(approval.hint) !== null) return 'unused';
  return now < decidedAt + APPROVAL_USE_MS ? null : 'expired';
}
