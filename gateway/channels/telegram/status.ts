import type { RequestStatus, RequestView } from '../../lib/approvals.ts';
import { shownLine } from './display-text.ts';

/** How a request stands, in plain words. */
export function statusWords(status: RequestStatus): { icon: string; words: string } {
  return WORDS[status];
}

const WORDS: Readonly<Record<RequestStatus, { icon: string; words: string }>> = {
  approved: { icon: '✅', words: 'Approved' },
  modified: { icon: '✅', words: 'Approved with a change' },
  denied: { icon: '⛔', words: 'Denied' },
  needs_context: { icon: '❓', words: 'Sent back: needs context' },
  answered: { icon: '💬', words: 'Answered' },
  expired: { icon: '⌛', words: 'Expired: nobody decided in time, so it is not approved' },
  // A message may end before its request does, such as when a channel is removed.
  pending: { icon: '➖', words: 'No longer asked here' },
};

/** One line for a toast, such as `Approved by Anna, 2026-01-02 03:04 UTC`. */
export function statusLine({ status, decidedBy, decidedAt }: RequestView): string {
  const by = decidedBy === null ? '' : ` by ${shownLine(decidedBy)}`;
  const at = decidedAt === null ? '' : `, ${shownTime(decidedAt)}`;
  return WORDS[status].words + by + at;
}

/** `2026-01-02 03:04 UTC`: people who decide may sit in different zones. */
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
