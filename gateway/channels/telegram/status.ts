import { IDLE_MS, type Outcome } from '../../../shared/rules/requests/outcome.ts';
import type { OpenedRequest, RequestStatus, RequestView } from '../../approvals/approvals.ts';
import { moreNeeded } from '../../approvals/quorum.ts';
import { shownLine } from './display-text.ts';

/** A request's status in plain words. */
export function statusWords({
  status,
  withdrawn,
}: Pick<RequestView, 'status' | 'withdrawn'>): StatusWords {
  return withdrawn === null ? WORDS[status] : WITHDRAWN;
}

interface StatusWords {
  readonly icon: string;
  readonly words: string;
}

const WITHDRAWN: StatusWords = { icon: '↩️', words: 'Withdrawn, nothing to decide' };

const WORDS: Readonly<Record<RequestStatus, StatusWords>> = {
  approved: { icon: '✅', words: 'Approved' },
  modified: { icon: '✅', words: 'Approved with a change' },
  denied: { icon: '⛔', words: 'Denied' },
  needs_context: { icon: '❓', words: 'Sent back: needs context' },
  answered: { icon: '💬', words: 'Answered' },
  expired: { icon: '⌛', words: 'Expired: nobody decided in time, so it is not approved' },
  // A message may end before its request does, such as when a channel is removed.
  pending: { icon: '➖', words: 'No longer asked here' },
};

const BY_YOU: Readonly<Partial<Record<RequestStatus, string>>> = {
  approved: 'Approved by you',
  modified: 'Approved by you with a change',
  denied: 'Denied by you',
  needs_context: 'Sent back by you: needs context',
  answered: 'Answered by you',
};

/** How a request ended, for the channel that asked: `✅ Approved by you, 14:02 UTC`. */
export function endLine({ request, isDecider, now }: OpenedRequest): string {
  const { icon, words } = statusWords(request);
  const mine = isDecider ? BY_YOU[request.status] : undefined;
  if (mine === undefined || request.decidedAt === null) return `${icon} ${words}`;
  return `${icon} ${mine}, ${shortTime(request.decidedAt, now)}`;
}

/** For a person whose approval counts while more people must approve. */
export function recordedText({ approvals }: RequestView): string {
  return `✅ Recorded. ${moreNeeded(approvals)}`;
}

/** What became of the event after the decision: `🏁 Done, 14:03 UTC`. */
export function outcomeLine(outcome: Outcome, status: RequestStatus, now: number): string {
  if (outcome.kind === 'idle') {
    const minutes = IDLE_MS / MINUTE_MS;
    return outcome.tried
      ? `⏳ Not done after ${minutes} minutes: the event waits for an agent again`
      : `⏳ Not taken up for ${minutes} minutes`;
  }
  const at = shortTime(outcome.at, now);
  if (outcome.kind === 'dead') return `❌ Given up, ${at}`;
  return status === 'denied' || status === 'needs_context' ? `🏁 Closed, ${at}` : `🏁 Done, ${at}`;
}

/** Only the time if it's today. */
export function shortTime(ms: number, now: number): string {
  const [shown, today] = [shownTime(ms), shownTime(now)];
  return shown.slice(0, 10) === today.slice(0, 10) ? shown.slice(11) : shown;
}

/** One line for a toast, such as `Approved by Anna, 2026-01-02 03:04 UTC`. */
export function statusLine(request: RequestView): string {
  const { decidedBy, decidedAt } = request;
  const by = decidedBy === null ? '' : ` by ${shownLine(decidedBy)}`;
  const at = decidedAt === null ? '' : `, ${shownTime(decidedAt)}`;
  return statusWords(request).words + by + at;
}

/** `2026-01-02 03:04 UTC`: approvers may be in different time zones. */
export function shownTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const MINUTE_MS = 60_000;

/** How long until then, such as `23 h 5 min`. */
export function shownSpan(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / MINUTE_MS));
  const [days, hours, rest] = [
    Math.floor(minutes / 1440),
    Math.floor(minutes / 60) % 24,
    minutes % 60,
  ];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
  return minutes > 0 ? `${minutes} min` : 'less than a minute';
}
