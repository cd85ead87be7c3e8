import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { SERVICE, type Actor } from '../../rules/actor.ts';
import type { Resolution } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { removeChannel } from '../channel/removal.ts';
import { personChosen } from '../channel/statement.ts';
import { settleMail } from '../email/settle.ts';
import { settleMember } from '../member/settle.ts';
import { applyPolicy, isSuperseded } from '../policy/proposal.ts';
import { wakeWaiting } from '../inbox/wake.ts';
import { decidedFacts } from './facts.ts';
import { notifyOver } from './notify.ts';
import { checkTakenUp } from './outcome.ts';
import { toRecord } from './record.ts';

export interface Ending extends Resolution {
  /** `channel:<id>`; null if no person decided. */
  readonly decidedBy: string | null;
  readonly hint?: string;
  /** Until when the answer holds for others in the thread; Unix time in milliseconds. */
  readonly lastsUntil?: number;
  /** The agent, or the end of its event, took the question back. */
  readonly isWithdrawn?: boolean;
}

const SUPERSEDED: Pick<Ending, 'status' | 'decision' | 'hint'> = {
  status: 'denied',
  decision: null,
  hint: 'superseded: another policy was approved first. Read it with policy_get, then propose yours again.',
};

/**
 * Ends a request. Only the first decision counts (compare and set): returns false if there was one already or the
 * request has expired. Consequences happen in the same transaction: the policy applies, the channel becomes active,
 * messages lose their buttons, and the event goes out.
 */
export async function resolveRequest(
  context: ApprovalContext,
  request: RequestRow,
  how: Ending,
): Promise<boolean> {
  const { store, now, emit } = context;
  const late = request.kind === 'policy' && how.status === 'approved';
  const end = late && (await isSuperseded(context, request)) ? { ...how, ...SUPERSEDED } : how;
  const { status, decision, comment, decidedBy, hint = null, isWithdrawn = false } = end;
  const { lastsUntil = null } = end;
  const isExpiry = status === 'expired' && !isWithdrawn;
  // A request ends when it expires, even if we record that later.
  const at = isExpiry ? request.expires_at : now;
  const ending = { status, decision, comment, hint, decidedBy, lastsUntil, at };
  if (!(await store.requests.end(request.id, ending))) return false;
  const told = { decision, comment, hint, decided_by: decidedBy };
  const ended: RequestRow = {
    ...request,
    status,
    ...told,
    decided_at: at,
    lasts_until: lastsUntil,
  };
  await recordEnd(context, opOf(end), ended, isExpiry ? SERVICE : undefined);
  await applyDecision(context, ended);
  await closeNotices(context, ended.id);
  await checkTakenUp(context, ended);
  const woke = await wakeWaiting(context, ended.id, status);
  await announceEnd(context, ended, { isDone: woke || isWithdrawn });
  emit({ kind: 'request_ended', id: request.id });
  return true;
}

/** What the ledger calls such an end. */
function opOf({ status, isWithdrawn = false }: Ending): string {
  if (isWithdrawn) return 'request.withdrawn';
  return status === 'expired' ? 'request.expired' : 'request.decided';
}

/** Records how a request ended; about an event in a way that can be proven without the key of the project. */
export async function recordEnd(
  { store, record }: ApprovalContext,
  op: string,
  row: RequestRow,
  by?: Actor,
): Promise<void> {
  const { id, status, decision, comment, hint, decided_by, event_id: eventId } = row;
  const about =
    eventId === null
      ? { request_id: id, status, decision, comment, hint, decided_by }
      : await decidedFacts(store, row, await store.events.find(eventId));
  await record(op, id, about, { eventId, by });
}

/** Reports the result to the inbox and to the request's callback. `isDone`: somebody already has the answer. */
export async function announceEnd(
  context: ApprovalContext,
  request: RequestRow,
  { isDone }: { readonly isDone: boolean },
): Promise<void> {
  const { callback_url: url, id: requestId } = request;
  const {
    approvals: _votes,
    warnings: _found,
    ...payload
  } = await toRecord(context.store, request, context.now);
  await context.writeEvent({
    type: 'request.resolved',
    payload,
    callback: url === null ? null : { url, requestId },
    outcomeOf: { requestId, keyId: request.key_id },
    isDone,
  });
}

async function applyDecision(context: ApprovalContext, request: RequestRow): Promise<void> {
  const { store, now, record } = context;
  const { kind, status, subject } = request;
  if (kind === 'policy' && status === 'approved') await applyPolicy(context, request);
  if (kind === 'email_send') await settleMail(context, request);
  if (kind === 'member') await settleMember(context, request, resolveRequest);
  if (kind !== 'channel') return;
  if (status === 'approved' || status === 'modified') {
    await store.channels.setActive(subject, isoTime(now));
    const personOf = personChosen(subject, request);
    if (personOf !== null) await store.channels.setPerson(subject, personOf);
    await record('channel.activated', subject);
  } else await removeChannel(context, subject);
}

/** Cancels notices that weren't sent yet. The others lose their buttons, and show how the request stands. */
export async function closeNotices(context: ApprovalContext, id: string): Promise<void> {
  const { notices } = context.store;
  for (const notice of await notices.ofRequest(id)) {
    if (notice.kind !== 'ask') continue;
    if (notice.status === 'queued' || notice.status === 'held') {
      await notices.end(notice.id, 'void', null);
    }
    if (notice.status === 'sent') await notifyOver(context, notice);
  }
}
