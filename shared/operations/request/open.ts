import type { WriteContext } from '../../kernel/context.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
import {
  PENDING_REQUESTS_MAX,
  PENDING_REQUESTS_PER_KEY,
  REQUEST_DEFAULT_MS,
} from '../../lib/limits.ts';
import { policyActor } from '../../rules/actor.ts';
import { decidePolicy, type PolicyVerdict } from '../../rules/policy/decide.ts';
import type { PolicySubject } from '../../rules/policy/subject.ts';
import type { RequestKind } from '../../rules/requests/request-state.ts';
import { mayDecide } from '../../rules/roles.ts';
import type { ChannelRow } from '../../store/tables/people/channels.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { activeDecider } from '../channel/decider.ts';
import { People } from '../channel/people.ts';
import { compiledPolicy } from '../policy/proposal.ts';
import { notify } from './notify.ts';
import { announceEnd, recordEnd } from './resolve.ts';
import { pendingRequest } from './row.ts';

/** A request to record. Omitted fields are null in the record. */
export interface RequestDraft {
  readonly kind: RequestKind;
  /** Exactly what the agent asks for, as canonical JSON. */
  readonly subject: string;
  readonly summary: string;
  readonly action?: string | undefined;
  readonly details?: string | undefined;
  readonly risk?: 'low' | 'medium' | 'high' | undefined;
  readonly amount?: number | undefined;
  readonly question?: string | undefined;
  readonly options?: readonly string[] | undefined;
  readonly proposal?: unknown;
  /** Channels to ask (default: every active one). */
  readonly approvers?: readonly string[] | undefined;
  /** How many of them must approve (default 1). */
  readonly approvals?: number | undefined;
  /** After how long the same people are asked once more; shorter than the request lasts. */
  readonly remindMs?: number | undefined;
  /** Channels that are asked too, later. */
  readonly next?: readonly string[] | undefined;
  readonly state_ref?: string | undefined;
  readonly callback_url?: string | undefined;
  readonly expiresInMs?: number | undefined;
  /** The event that the question is about. */
  readonly eventId?: string | undefined;
  /** The exact values that people are shown, as canonical JSON. */
  readonly bind?: string | undefined;
  readonly identity?: string | undefined;
  /** What it belongs to. */
  readonly thread?: string | undefined;
}

/** A verdict and the version of the policy that gave it. */
export interface Judgement extends PolicyVerdict {
  readonly version: number;
  /** What the agent reads with it. */
  readonly hint?: string;
}

/** The policy's verdict on a call. If no rule matches, a person decides. */
export async function judge(context: WriteContext, subject: PolicySubject): Promise<Judgement> {
  const { version, policy } = await compiledPolicy(context.store);
  return { version, ...decidePolicy(policy, subject) };
}

/** A verdict that a person decides, regardless of the policy. */
export async function personDecides({ store }: WriteContext): Promise<Judgement> {
  const { version } = await compiledPolicy(store);
  return { version, effect: 'require_approval', rule: null, doubt: null };
}

/**
 * Records a request and asks its approvers, or records the policy's immediate decision and notifies them.
 * TOO_MANY_PENDING_REQUESTS, CHANNEL_NOT_VERIFIED, CALLBACK_SECRET_MISSING.
 */
export async function openRequest(
  context: WriteContext,
  draft: RequestDraft,
  judgement: Judgement,
): Promise<RequestRow> {
  await refuseUnknownApprovers(context, draft.kind, [
    ...(draft.approvers ?? []),
    ...(draft.next ?? []),
  ]);
  if (draft.callback_url !== undefined && !(await context.store.callbackSecret.get())) {
    throw new ServiceError('CALLBACK_SECRET_MISSING');
  }
  const decided = DECIDED[judgement.effect];
  if (decided === null) return ask(context, draft, judgement);
  const row = { ...rowOf(context, draft, judgement), ...byPolicy(context, judgement, decided) };
  await context.store.requests.insert(row);
  if (judgement.effect === 'auto_approve_notify') {
    for (const channelId of await approversOf(context, draft, judgement)) {
      await notify(context, { kind: 'tell', channelId, requestId: row.id });
    }
  }
  await recordEnd(context, 'request.decided', row, policyActor(judgement.rule?.id ?? ''));
  // The caller has the answer.
  await announceEnd(context, row, { isDone: true });
  return row;
}

const DECIDED = {
  allow: 'approved',
  auto_approve: 'approved',
  auto_approve_notify: 'approved',
  deny: 'denied',
  require_approval: null,
} as const satisfies Record<PolicyVerdict['effect'], string | null>;

function byPolicy(
  { now }: WriteContext,
  { rule }: Judgement,
  status: string,
): Pick<RequestRow, 'status' | 'decided_by' | 'decided_at'> {
  return { status, decided_by: `policy:${rule?.id ?? ''}`, decided_at: now };
}

async function ask(
  context: WriteContext,
  draft: RequestDraft,
  judgement: Judgement,
): Promise<RequestRow> {
  const { store, now, emit } = context;
  await refuseTooMany(context);
  const { first, next } = await roundsOf(context, draft, judgement);
  const approvers = JSON.stringify([...first, ...next]);
  const approvals = Math.max(draft.approvals ?? 1, judgement.rule?.approvals ?? 1);
  const row = { ...rowOf(context, draft, judgement), approvers, approvals };
  const { remindMs } = draft;
  const nextAt = now + (remindMs ?? Math.floor((row.expires_at - now) / 2));
  await refuseUnreachable(context, draft, { needed: row.approvals, asked: [...first, ...next] });
  await store.requests.insert(row);
  const askAt = async (channelIds: readonly string[], dueAt: number): Promise<void> => {
    for (const channelId of channelIds) {
      await notify(context, { kind: 'ask', channelId, requestId: row.id, dueAt });
    }
  };
  await askAt(first, now);
  if (remindMs !== undefined) await askAt(first, now + remindMs);
  await askAt(next, nextAt);
  emit({ kind: 'due', at: row.expires_at });
  return row;
}

/** People decide within minutes at the soonest, so programs needn't ask more often. */
const LATER = { retry_after: 60 } as const;

/** One key can't take all the room: TOO_MANY_PENDING_REQUESTS says whose share is used up. */
export async function refuseTooMany({
  store,
  caller,
  now,
}: Pick<WriteContext, 'store' | 'caller' | 'now'>): Promise<void> {
  const pending = await store.requests.countPending(now, caller.keyId);
  const isKeyFull = pending.ofKey >= PENDING_REQUESTS_PER_KEY;
  if (!isKeyFull && pending.all < PENDING_REQUESTS_MAX) return;
  if (!isKeyFull) {
    const details = { limit: PENDING_REQUESTS_MAX, used: pending.all, of: 'project' };
    throw new ServiceError('TOO_MANY_PENDING_REQUESTS', { details: { ...details, ...LATER } });
  }
  throw new ServiceError('TOO_MANY_PENDING_REQUESTS', {
    hint: `This key may have ${PENDING_REQUESTS_PER_KEY} of them, and all are pending: have some decided, or let them expire; see request_list.`,
    details: { limit: PENDING_REQUESTS_PER_KEY, used: pending.ofKey, of: 'key', ...LATER },
  });
}

/** A request that needs more people than will be asked could only expire, and an option is one person's choice. */
async function refuseUnreachable(
  context: WriteContext,
  { options = [] }: RequestDraft,
  { needed, asked }: { readonly needed: number; readonly asked: readonly string[] },
): Promise<void> {
  if (needed === 1) return;
  if (options.length > 0) {
    throw invalid({
      path: 'approvals',
      message: `Options don't go with ${needed} approvals: an option is one person's choice.`,
    });
  }
  const people = (await People.of(context)).distinct(asked).length;
  if (people >= needed) return;
  const message = `${needed} people must approve, but only ${people} can be asked.`;
  const why = `Of the ${asked.length} channels, those of one person count once, and a Telegram chat counts only if the owner said whose it is, on the channel's page in the web inbox.`;
  throw invalid({
    path: 'approvals',
    message: people < asked.length ? `${message} ${why}` : message,
  });
}

function rowOf(context: WriteContext, draft: RequestDraft, judgement: Judgement): RequestRow {
  const { caller, now, newId } = context;
  return pendingRequest(
    {
      ...wordsOf(draft),
      id: newId('req'),
      kind: draft.kind,
      key_id: caller.keyId,
      agent: caller.agent.label,
      platform: caller.agent.platform,
      proposal: draft.proposal === undefined ? null : JSON.stringify(draft.proposal),
      policy_version: judgement.version,
      rule: judgement.rule?.id ?? null,
      state_ref: draft.state_ref ?? null,
      callback_url: draft.callback_url ?? null,
      event_id: draft.eventId ?? null,
      bind: draft.bind ?? null,
      identity: draft.identity ?? null,
      thread: draft.thread ?? null,
      hint: judgement.hint ?? null,
      expires_at: now + (draft.expiresInMs ?? REQUEST_DEFAULT_MS),
    },
    now,
  );
}

/** The fields that approvers see. */
function wordsOf(draft: RequestDraft) {
  return {
    subject: draft.subject,
    summary: draft.summary,
    action: draft.action ?? null,
    details: draft.details ?? null,
    risk: draft.risk ?? null,
    amount: draft.amount ?? null,
    question: draft.question ?? null,
    options: JSON.stringify(draft.options ?? []),
  };
}

async function refuseUnknownApprovers(
  { store }: WriteContext,
  kind: RequestKind,
  approvers: readonly string[],
): Promise<void> {
  for (const id of approvers) {
    if ((await activeDecider(store, id, kind)) === null) {
      throw new ServiceError('CHANNEL_NOT_VERIFIED', { details: { approver: id } });
    }
  }
}

/**
 * Whom to ask or notify (spec section 4.9). If the rule has approvers: the active ones, or the owner if none is active.
 * Otherwise: the request's approvers, or every active channel.
 */
async function approversOf(
  { store }: WriteContext,
  draft: RequestDraft,
  { rule }: Judgement,
): Promise<string[]> {
  const active = await decidersOf(store, draft.kind);
  const ofRule = rule?.approvers;
  if (ofRule === undefined || ofRule.length === 0) {
    return [...new Set(draft.approvers ?? active.map(({ id }) => id))];
  }
  const among = active.filter(({ id }) => ofRule.includes(id)).map(({ id }) => id);
  if (among.length > 0) return among;
  return active.filter(({ owner }) => owner === 1).map(({ id }) => id);
}

/** The active channels that may decide such a request. */
async function decidersOf(
  { channels, members }: WriteContext['store'],
  kind: RequestKind,
): Promise<ChannelRow[]> {
  const roles = new Map((await members.list()).map((one) => [one.channel_id, one.role]));
  return (await channels.list()).filter(
    ({ id, status }) => status === 'active' && mayDecide(roles.get(id) ?? null, kind),
  );
}

/**
 * Whom to ask at once and whom later. The channels for later are left out at first, unless the agent names them for both
 * or there's nobody else; where a rule has approvers, only those count.
 */
async function roundsOf(
  context: WriteContext,
  draft: RequestDraft,
  judgement: Judgement,
): Promise<{ readonly first: readonly string[]; readonly next: readonly string[] }> {
  const asked = await approversOf(context, draft, judgement);
  const ofRule = judgement.rule?.approvers ?? [];
  const may = (draft.next ?? []).filter((id) => ofRule.length === 0 || ofRule.includes(id));
  const named = draft.approvers ?? [];
  const first = asked.filter((id) => !may.includes(id) || named.includes(id));
  if (first.length === 0) return { first: asked, next: [] };
  return { first, next: [...new Set(may)].filter((id) => !first.includes(id)) };
}
