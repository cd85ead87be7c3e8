import type { ApprovalContext, WriteContext } from '../../kernel/context.ts';
import type { RequestKind } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import type { ProjectChange } from '../project/apply.ts';
import type { MemberChange } from './settle.ts';
import { notify } from '../request/notify.ts';
import { refuseTooMany } from '../request/open.ts';
import { pendingRequest } from '../request/row.ts';
import { ownerChannels } from './owners.ts';

const OWNER_WAIT_MS = 7 * 86_400_000;

/** Asks every owner, of whom the first to answer decides; returns the request's id, or null if nobody can be asked. */
export async function askOwners(
  context: ApprovalContext,
  asked: { readonly kind: RequestKind; readonly summary: string } & Partial<RequestRow>,
): Promise<string | null> {
  const { store, now, newId, emit } = context;
  const owners = await ownerChannels(context);
  if (owners.length === 0) return null;
  const row = pendingRequest(
    {
      id: newId('req'),
      risk: 'high',
      approvers: JSON.stringify(owners),
      expires_at: now + OWNER_WAIT_MS,
      ...asked,
    },
    now,
  );
  await store.requests.insert(row);
  for (const channelId of owners)
    await notify(context, { kind: 'ask', channelId, requestId: row.id });
  emit({ kind: 'due', at: row.expires_at });
  return row.id;
}

/**
 * Asks every owner about a change of a member or of the project, once: a repeat returns the pending request.
 * TOO_MANY_PENDING_REQUESTS, as for every request.
 */
export async function askAbout(
  context: WriteContext,
  subject: string,
  {
    change,
    action,
    summary,
  }: {
    readonly change: MemberChange | ProjectChange;
    readonly action: string;
    readonly summary: string;
  },
): Promise<string | null> {
  const { caller, now, store } = context;
  const proposal = JSON.stringify(change);
  const same = (await store.requests.pending(now)).find(
    (one) => one.kind === 'member' && one.subject === subject && one.proposal === proposal,
  );
  if (same) return same.id;
  await refuseTooMany(context);
  return askOwners(context, {
    kind: 'member',
    key_id: caller.keyId,
    agent: caller.agent.label,
    platform: caller.agent.platform,
    subject,
    proposal,
    action,
    summary,
  });
}

/** Asks every owner about a change of a member: see `askAbout`. */
export function askAboutMember(
  context: WriteContext,
  memberId: string,
  change: MemberChange,
  summary: string,
): Promise<string | null> {
  return askAbout(context, memberId, { change, action: `member_${change.change}`, summary });
}
