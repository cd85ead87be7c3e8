import type { WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { dayOf, limitPassed, monthDays, type SendUse } from '../../rules/send-limit.ts';
import { reputationProblem, REPUTATION_DAYS } from '../../rules/sender-reputation.ts';
import type { Repositories } from '../../store/repositories.ts';

const DAY_MS = 86_400_000;
/** Why and since when a project must not send, as JSON. Only the operator takes it away. */
const BLOCKED = 'send_blocked';
/** Reports that do not count any more, as JSON. */
const FORGIVEN = 'send_forgiven';

/** Why and since when (ISO) nothing may be sent. */
export interface Blocked {
  readonly reason: string;
  readonly at: string;
}

/** Reports that had come on a day when the project was let send again. Those of the days before do not count either. */
interface Forgiven {
  readonly day: string;
  readonly bounced: number;
  readonly complained: number;
}

/** What a project has asked to be sent today and this month. */
export async function sendUse({ emailAddresses }: Repositories, now: number): Promise<SendUse> {
  const today = dayOf(now);
  const { first, last } = monthDays(now);
  return {
    today: (await emailAddresses.sums(today, today)).asked,
    thisMonth: (await emailAddresses.sums(first, last)).asked,
  };
}

/** Takes room for so many messages. SEND_LIMIT_REACHED says which window is full, and for how long. */
export async function takeSendQuota(
  { store, now }: Pick<WriteContext, 'store' | 'now'>,
  messages: number,
): Promise<void> {
  const passed = limitPassed(await sendUse(store, now), messages, now);
  if (passed) throw new ServiceError('SEND_LIMIT_REACHED', { details: { ...passed } });
  await store.emailAddresses.count(dayOf(now), 'asked', messages);
}

/** Gives room back to the day on which it was taken. */
export function returnSendQuota(
  { emailAddresses }: Repositories,
  createdAt: string,
  messages: number,
): Promise<void> {
  return emailAddresses.count(createdAt.slice(0, 10), 'asked', -messages);
}

/** Why a project must not send; null when it may. */
export async function sendBlocked({ meta }: Repositories): Promise<Blocked | null> {
  const stored = await meta.get(BLOCKED);
  return typeof stored === 'string' && stored !== '' ? (JSON.parse(stored) as Blocked) : null;
}

/** Blocks a project, or with null lets it send again. */
export function setSendBlocked({ meta }: Repositories, blocked: Blocked | null): Promise<void> {
  return meta.set(BLOCKED, blocked === null ? '' : JSON.stringify(blocked));
}

/** Lets a blocked project send again. The reports that led to it count no longer: the next one would block it at once. */
export async function unblockSending(store: Repositories, now: number): Promise<void> {
  const day = dayOf(now);
  const { bounced, complained } = await store.emailAddresses.sums(day, day);
  const forgiven: Forgiven = { day, bounced, complained };
  await store.meta.set(FORGIVEN, JSON.stringify(forgiven));
  await setSendBlocked(store, null);
}

/**
 * Why the reports of the last days are too many, or null. What was sent counts for all of these days, also where reports
 * were forgiven within them: reports may still come about messages of before.
 */
export async function reputationOf(store: Repositories, now: number): Promise<string | null> {
  const { emailAddresses } = store;
  const [first, today] = [dayOf(now - (REPUTATION_DAYS - 1) * DAY_MS), dayOf(now)];
  const all = await emailAddresses.sums(first, today);
  const forgiven = await forgivenReports(store);
  if (forgiven === null || forgiven.day < first) return reputationProblem(all);
  const since = await emailAddresses.sums(forgiven.day, today);
  return reputationProblem({
    sent: all.sent,
    bounced: since.bounced - forgiven.bounced,
    complained: since.complained - forgiven.complained,
  });
}

async function forgivenReports({ meta }: Repositories): Promise<Forgiven | null> {
  const stored = await meta.get(FORGIVEN);
  return typeof stored === 'string' ? (JSON.parse(stored) as Forgiven) : null;
}
