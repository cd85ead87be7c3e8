import type { RequestKind } from './request-state.ts';

/** How many messages a key may send to a person at once, and after that in an hour. */
const BURST = 10;
const PER_HOUR = 20;
/** Further messages at once for requests that can't wait behind others. */
const RESERVE = 10;
/** The least time between two digests. */
const DIGEST_PAUSE_MS = 15 * 60_000;
const COST_MS = 3_600_000 / PER_HOUR;

/** How long one press of the button mutes a key. */
export const MUTE_MS = 3_600_000;

/** What a key has used of its budget for a channel. Times are in milliseconds. */
export interface BudgetState {
  /** When the whole burst is there again. */
  readonly fullAt: number;
  /** When the last digest went out. */
  readonly digestAt: number | null;
  readonly mutedUntil: number | null;
}

/** A message that waits to be sent. */
interface PendingNotice {
  readonly isUrgent: boolean;
  /** Earlier messages wait for a digest. */
  readonly areOthersHeld: boolean;
  /** Whether messages are counted: not where they stay in a folder. */
  readonly isCounted: boolean;
}

/** Returns the budget after sending a message now, or null if the message must wait for a digest. */
export function admitNotice(
  state: BudgetState,
  { isUrgent, areOthersHeld, isCounted }: PendingNotice,
  now: number,
): BudgetState | null {
  if (isMuted(state, now)) return null;
  if (!isCounted) return state;
  // A digest must come first, or those that wait would wait for as long as others come.
  if (areOthersHeld && !isUrgent) return null;
  const fullAt = spent(state, now);
  return fullAt > now + (isUrgent ? BURST + RESERVE : BURST) * COST_MS
    ? null
    : { ...state, fullAt };
}

/** The first time when a digest may go out: after the mute, 15 minutes after the last one, and within the budget. */
export function digestDue(state: BudgetState, isCounted: boolean, now: number): number {
  const { digestAt, mutedUntil } = state;
  const within = isCounted ? spent(state, now) - BURST * COST_MS : now;
  const after = isCounted && digestAt !== null ? digestAt + DIGEST_PAUSE_MS : now;
  return Math.max(now, within, Math.min(after, now + DIGEST_PAUSE_MS), mutedUntil ?? now);
}

/** The budget after a digest goes out now. */
export function afterDigest(state: BudgetState, isCounted: boolean, now: number): BudgetState {
  return isCounted ? { ...state, fullAt: spent(state, now), digestAt: now } : state;
}

export function isMuted({ mutedUntil }: Pick<BudgetState, 'mutedUntil'>, now: number): boolean {
  return mutedUntil !== null && mutedUntil > now;
}

/** A clock that went back must not leave a key without messages for longer than an empty budget would. */
function spent({ fullAt }: BudgetState, now: number): number {
  const most = now + (BURST + RESERVE) * COST_MS;
  return Math.min(Math.max(fullAt, now), most) + COST_MS;
}

const ORDINARY: readonly RequestKind[] = ['approval', 'question', 'file_url', 'email_send'];

/** Requests of high risk, and those about who decides, get through before others. */
export function isUrgentRequest({
  kind,
  risk,
}: {
  readonly kind: string;
  readonly risk: string | null;
}): boolean {
  return risk === 'high' || !ORDINARY.some((one) => one === kind);
}
