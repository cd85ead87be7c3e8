import { hash } from 'node:crypto';
import type { ProjectInfo, Vault } from '../../shared/kernel/context.ts';
import { isSuperseded, policyAt, proposalOf } from '../../shared/operations/policy/proposal.ts';
import { People } from '../../shared/operations/channel/people.ts';
import { warningsAbout } from '../../shared/operations/email/copy.ts';
import { addressOf } from '../../shared/operations/member/channel.ts';
import { memberBehind } from '../../shared/operations/member/of-key.ts';
import { amountWarnings } from '../../shared/operations/request/amount-warnings.ts';
import { texts } from '../../shared/operations/request/record.ts';
import { boundValues } from './bound-values.ts';
import { outcomeOf } from '../../shared/rules/requests/outcome.ts';
import { describeRule, diffPolicies } from '../../shared/rules/policy/diff.ts';
import { shadowedRules } from '../../shared/rules/policy/shadowed.ts';
import { likeCalls } from '../../shared/rules/requests/lasting.ts';
import { isMuted } from '../../shared/rules/requests/notice-budget.ts';
import { effective } from '../../shared/rules/inbox/event-state.ts';
import { queueRow } from '../../shared/kernel/queue-row.ts';
import { suggestedRuleOf } from '../../shared/rules/requests/suggested-rule.ts';
import {
  effectiveRequestStatus,
  unusedBecause,
  withdrawnBecause,
} from '../../shared/rules/requests/request-state.ts';
import type { ChannelRow } from '../../shared/store/tables/people/channels.ts';
import type { MemberRow } from '../../shared/store/tables/access/members.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { RequestRow } from '../../shared/store/tables/people/requests.ts';
import type { VoteRow } from '../../shared/store/tables/people/votes.ts';
import type { ChannelView, InvitationView, OpenedRequest, RequestView } from './approvals.ts';

const FINGERPRINT_CHARS = 12;
const TOO_LATE =
  'Another policy was approved since this one was proposed: this one cannot apply any more.';

/** Builds a request as the person behind a channel sees it. */
export async function openedFor(
  store: Repositories,
  project: ProjectInfo,
  seen: {
    readonly row: RequestRow;
    readonly channel: Pick<ChannelRow, 'id' | 'label'>;
    /** Opens the address of a person that the request is about; null for a reader who doesn't decide it. */
    readonly vault: Vault | null;
    /** The channel that decisions come from (default: the same). */
    readonly voterId?: string | undefined;
    readonly now: number;
  },
): Promise<OpenedRequest> {
  const { row, channel, now, vault, voterId = channel.id } = seen;
  const votes = row.approvals > 1 ? await store.votes.ofRequest(row.id) : [];
  const request = await requestView(store, project, { row, votes, now, vault });
  // If several people approved, no single person counts as the decider.
  const isAlone = votes.length === 0 || row.status !== 'approved';
  const isDecider = isAlone && row.decided_by === `channel:${channel.id}`;
  const votedAt = await voteOf(store, project, { votes, voterId, vault });
  const of = { channelId: voterId, keyId: row.key_id };
  const budget = await store.noticeBudgets.find(of);
  return {
    request,
    channel: { id: channel.id, label: channel.label },
    isDecider,
    votedAt,
    mutedUntil: isMuted(budget, now) ? budget.mutedUntil : null,
    now,
  };
}

/** When the person behind a channel approved, through any of their channels. */
async function voteOf(
  store: Repositories,
  project: ProjectInfo,
  {
    votes,
    voterId,
    vault,
  }: {
    readonly votes: readonly VoteRow[];
    readonly voterId: string;
    readonly vault: Vault | null;
  },
): Promise<number | null> {
  const own = votes.find(({ channel_id }) => channel_id === voterId);
  if (own || votes.length === 0 || vault === null) return own?.at ?? null;
  const people = await People.of({ store, project, vault });
  return votes.find(({ channel_id }) => people.isOne(channel_id, voterId))?.at ?? null;
}

async function requestView(
  store: Repositories,
  project: ProjectInfo,
  {
    row,
    votes,
    now,
    vault,
  }: {
    readonly row: RequestRow;
    readonly votes: readonly VoteRow[];
    readonly now: number;
    readonly vault: Vault | null;
  },
): Promise<RequestView> {
  const key = await store.keys.find(row.key_id);
  const counting = votes.filter(({ counts }) => counts === 1);
  const given = await Promise.all(
    counting.map(async ({ channel_id, at }) => ({ label: await labelOf(store, channel_id), at })),
  );
  const isShared = given.length > 0 && row.status === 'approved';
  return {
    id: row.id,
    kind: row.kind as RequestView['kind'],
    status: effectiveRequestStatus(row, now),
    project: { name: project.name, slug: project.slug },
    agent: { label: row.agent, platform: row.platform },
    keyId: row.key_id,
    keyName: key?.name ?? '',
    action: row.action,
    summary: vault ? await summaryFor(store, project, { row, vault }) : row.summary,
    details: row.details,
    amount: row.amount,
    risk: row.risk as RequestView['risk'],
    options: texts(row.options),
    bound: row.bind === null ? null : boundValues(row.bind),
    ...(await found(store, row)),
    fingerprint: fingerprintOf(row),
    createdAt: Date.parse(row.created_at),
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: isShared
      ? given.map(({ label }) => label).join(', ')
      : await deciderOf(store, row.decided_by),
    decision: row.decision,
    comment: row.comment,
    approvals: { needed: row.approvals, given },
    withdrawn: withdrawnBecause(row.hint),
    unused: unusedBecause(row.hint),
    ...(await aboutEvent(store, row, now)),
    thread: await threadOf(store, row),
    like: likeCalls(row)?.words ?? null,
    suggestedRule: suggestedLine(row),
    lastsUntil: row.lasts_until,
  };
}

/** Owners must see exactly whom they let in: `b***@gmail.com` could be anybody. */
async function summaryFor(
  store: Repositories,
  project: ProjectInfo,
  { row, vault }: { readonly row: RequestRow; readonly vault: Vault },
): Promise<string> {
  const member = row.kind === 'member' ? await store.members.find(row.subject) : undefined;
  const address = member && addressOf({ project, vault }, member);
  return member?.masked && address
    ? row.summary.replace(member.masked, () => address)
    : row.summary;
}

/** The event that a request is about, and what became of it since a person decided. */
async function aboutEvent(
  store: Repositories,
  { event_id: id, decided_by: by, decided_at: at }: RequestRow,
  now: number,
): Promise<Pick<RequestView, 'event' | 'outcome'>> {
  const row = id === null ? undefined : await store.events.find(id);
  if (!row) return { event: null, outcome: null };
  const event = { id: row.id, source: row.source, type: row.type };
  if (at === null || !by?.startsWith('channel:')) return { event, outcome: null };
  const { status, attempts } = effective(queueRow(row), now);
  const remarks = await store.events.remarksOf(row.seq);
  const ended = { status, attempts, finishedAt: row.finished_at, ...remarks };
  return { event, outcome: outcomeOf(ended, at, now) };
}

function suggestedLine(row: RequestRow): string | null {
  const rule = suggestedRuleOf(row);
  return rule && describeRule(rule);
}

async function threadOf(
  { threads }: Repositories,
  { key_id: keyId, thread }: RequestRow,
): Promise<RequestView['thread']> {
  return thread === null ? null : { name: thread, ...(await threads.counts({ keyId, thread })) };
}

/** Our own findings about a request. */
function found(
  store: Repositories,
  row: RequestRow,
): Promise<Pick<RequestView, 'note' | 'diff' | 'warnings'>> {
  if (row.kind === 'policy') return foundInPolicy(store, row);
  return row.kind === 'approval' ? foundInAmount(store, row) : foundInMail(store, row);
}

async function foundInAmount(store: Repositories, row: RequestRow) {
  return { note: null, diff: [], warnings: await amountWarnings(store, row) };
}

async function foundInMail(store: Repositories, { id, kind, status }: RequestRow) {
  const isOpen = kind === 'email_send' && status === 'pending';
  return { note: null, diff: [], warnings: isOpen ? await warningsAbout(store, id) : [] };
}

/** Compares a proposed policy with its base version, which may no longer be current. */
async function foundInPolicy(
  store: Repositories,
  row: RequestRow,
): Promise<Pick<RequestView, 'note' | 'diff' | 'warnings'>> {
  const { rules, note, baseVersion } = proposalOf(row);
  const warnings = shadowedRules({ rules }).map(({ message }) => message);
  // A policy request has a hint only if the policy couldn't be applied.
  const isTooLate =
    row.hint !== null || (row.status === 'pending' && (await isSuperseded({ store }, row)));
  return {
    note,
    diff: diffPolicies(await policyAt(store, baseVersion), { rules }),
    warnings: isTooLate ? [TOO_LATE, ...warnings] : warnings,
  };
}

/** The same on every channel, so that two people can check that they mean the same request. */
function fingerprintOf({ id, kind, subject }: RequestRow): string {
  return hash('sha256', `${id}\n${kind}\n${subject}`).slice(0, FINGERPRINT_CHARS);
}

/** Names the channel or policy rule that decided, for example `owner` for `channel:chn_…`. */
async function deciderOf(store: Repositories, decidedBy: string | null): Promise<string | null> {
  if (decidedBy === null) return null;
  const [by = '', name = ''] = decidedBy.split(/:(.*)/s);
  if (by === 'channel') return labelOf(store, name);
  const [, kind, id = ''] = /^(hour|stop):(req_\w+)$/.exec(name) ?? [];
  if (kind === undefined) return `policy rule ${name}`;
  const earlier = (await store.requests.find(id))?.decided_by ?? '';
  const label = await labelOf(store, earlier.replace(/^channel:/, ''));
  return kind === 'hour' ? `${label}, who allowed it for an hour` : `${label}, who stopped it`;
}

async function labelOf(store: Repositories, channelId: string): Promise<string> {
  return (await store.channels.findEver(channelId))?.label ?? 'a channel that was removed';
}

export function channelViewFor(row: ChannelRow, project: ProjectInfo): ChannelView {
  return {
    label: row.label,
    project: { name: project.name, slug: project.slug },
    address: row.masked ?? '',
    status: row.status === 'removed' ? 'added' : row.status,
  };
}

/** An invitation as the invited person sees it, in the mail and behind its link. */
export async function invitationViewFor(
  store: Repositories,
  { role, masked, invited_by }: MemberRow,
  { name, slug }: ProjectInfo,
): Promise<InvitationView> {
  const inviter = await inviterOf(store, invited_by);
  return { project: { name, slug }, role, address: masked ?? '', inviter };
}

/** Who invites: a member's masked address, or the name of a key. */
async function inviterOf(store: Repositories, invitedBy: string | null): Promise<string> {
  if (invitedBy === null) return 'the operator';
  const member = await memberBehind(store, { keyId: invitedBy });
  if (member?.masked) return member.masked;
  return `the key ${(await store.keys.find(invitedBy))?.name ?? invitedBy}`;
}
