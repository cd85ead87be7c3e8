import type { MailReservation, WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { dayOf, limitPassed, monthDays, type SendUse } from '../../rules/mail/send-limit.ts';
import { reputationProblem, REPUTATION_DAYS } from '../../rules/mail/sender-reputation.ts';
import type { Repositories } from '../../store/repositories.ts';

const DAY_MS = 86_400_000;
/** Meta key: why and since when a project can't send, as JSON. Only the operator clears it. */
const BLOCKED = 'send_blocked';
/** Meta key: the reports that no longer count, as JSON. */
const FORGIVEN = 'send_forgiven';

/** Why, and since when (ISO time), the project can't send. */
export interface SendBlockRecord {
  readonly reason: string;
  readonly at: string;
}

/**
 * Reports that had arrived on the day when the operator let the project send again. Reports from earlier days don't
 * count either.
 */
interface Forgiven {
  readonly day: string;
  readonly bounced: number;
  readonly complained: number;
}

/** How many messages a project has asked to send today and this month. */
export async function sendUse({ emailAddresses }: Repositories, now: number): Promise<SendUse> {
  const today = dayOf(now);
  const { first, last } = monthDays(now);
  return {
    today: (await emailAddresses.sums(today, today)).asked,
    thisMonth: (await emailAddresses.sums(first, last)).asked,
  };
}

/** Takes quota for some messages. SEND_LIMIT_REACHED says whose limit and which window is full, and for how long. */
export async function takeSendQuota(
  { store, now, emit }: Pick<WriteContext, 'store' | 'now' | 'emit'>,
  messages: number,
  reservation: MailReservation | null,
): Promise<void> {
  const own = limitPassed(await sendUse(store, now), messages, now);
  const passed = own ?? (reservation && 'passed' in reservation ? reservation.passed : null);
  if (passed) {
    const hint = CEILING_HINTS[passed.of];
    throw new ServiceError('SEND_LIMIT_REACHED', {
      ...(hint && { hint }),
      details: { ...passed },
    });
  }
  if (reservation && 'id' in reservation) emit({ kind: 'mail_taken', id: reservation.id });
  await store.emailAddresses.count(dayOf(now), 'asked', messages);
}

const CEILING_HINTS: Readonly<Record<string, string>> = {
  account: 'All projects of this owner together have used up their day. Wait details.retry_after.',
  gateway:
    'All projects of this gateway together have used up their day. Wait details.retry_after.',
};

/** Returns quota to the day it was taken from. */
export async function returnSendQuota(
  { store, emit }: Pick<WriteContext, 'store' | 'emit'>,
  createdAt: string,
  messages: number,
): Promise<void> {
  const day = createdAt.slice(0, 10);
  await store.emailAddresses.count(day, 'asked', -messages);
  emit({ kind: 'mail_returned', messages, day });
}

/** Why a project can't send, or null if it can. */
export async function sendBlocked({ meta }: Repositories): Promise<SendBlockRecord | null> {
  const stored = await meta.get(BLOCKED);
  return typeof stored === 'string' && stored !== ''
    ? (JSON.parse(stored) as SendBlockRecord)
    : null;
}

/** Blocks a project, or lets it send again if `blocked` is null. */
export function setSendBlocked(
  { meta }: Repositories,
  blocked: SendBlockRecord | null,
): Promise<void> {
  return meta.set(BLOCKED, blocked === null ? '' : JSON.stringify(blocked));
}

/**
 * Lets a blocked project send again. Earlier reports stop counting, because otherwise the next report would block it
 * at once.
 */
export async function unblockSending(store: Repositories, now: number): Promise<void> {
  const day = dayOf(now);
  const { bounced, complained } = await store.emailAddresses.sums(day, day);
  const forgiven: Forgiven = { day, bounced, complained };
  await store.meta.set(FORGIVEN, JSON.stringify(forgiven));
  await setSendBlocked(store, null);
}

/**
 * Why the project has too many reports in the last days, or null. Forgiving reports doesn't reset the number of sent
 * messages: reports about earlier messages may still arrive.
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
