import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import { REQUEST_POLL_SECONDS } from '../../lib/limits.ts';
import {
  END_REASONS,
  endingIn,
  effectiveRequestStatus,
  REQUEST_KINDS,
  REQUEST_STATUSES,
  unusedBecause,
} from '../../rules/requests/request-state.ts';
import { isMuted } from '../../rules/requests/notice-budget.ts';
import type { ChannelNotice } from '../../store/tables/people/notices.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { answersOf } from '../email/answers.ts';
import { amountWarnings } from './amount-warnings.ts';

const RISKS = ['low', 'medium', 'high'] as const;

/** Programs decide by this, never by the words of the hint. */
const reason = z
  .enum(END_REASONS)
  .nullable()
  .describe("Why it ended, where the status doesn't say: taken back, too late, or stopped.");

/** A request as callers see it (spec section 2.4), without anyone's address. */
export const requestRecord = named(
  'Request',
  z
    .object({
      request_id: z.string().describe('`req_…`.'),
      kind: z.enum(REQUEST_KINDS).describe('An approval or a question.'),
      status: z.enum(REQUEST_STATUSES).describe('Only `approved` and `modified` mean yes.'),
      action: z.string().nullable().describe('What the agent wants to do, as policies match it.'),
      summary: z.string().describe('The line that people read first.'),
      details: z.string().nullable().describe('What people need to decide.'),
      risk: z.enum(RISKS).nullable().describe('As the agent stated it.'),
      amount: z.number().nullable().describe('As the agent stated it.'),
      warnings: z
        .array(z.string())
        .describe('What people are warned of, such as another bound amount.'),
      question: z.string().nullable().describe('What was asked, if it is a question.'),
      options: z.array(z.string()).describe('Choices offered besides approve and deny.'),
      decision: z
        .string()
        .nullable()
        .describe('The chosen option (`modified`) or the answer (`answered`).'),
      comment: z.string().nullable().describe('What the person added.'),
      hint: z.string().nullable().describe('What to do next.'),
      reason,
      decided_by: z.string().nullable().describe('`channel:<id>` or `policy:<rule>`.'),
      decided_at: z.string().nullable().describe('When it was decided or expired.'),
      created_at: z.string().describe('When it was asked.'),
      expires_at: z.string().describe('Without a decision it expires then.'),
      requested_by: z
        .object({
          key_id: z.string().describe('The API key.'),
          agent: z.string().nullable().describe('The agent, as it calls itself.'),
          platform: z.string().describe("The agent's platform."),
        })
        .describe('Who asked.'),
      approvers: z.array(z.string()).describe('Channels asked; empty means all active ones.'),
      notified: z
        .array(
          z.object({
            channel_id: z.string().describe('The channel, `chn_…`.'),
            kind: z.string().describe('`email` or `telegram`.'),
            status: z.string().describe('Whether the message went out.'),
            at: z.string().nullable().describe('When it was sent or queued.'),
          }),
        )
        .describe('Messages sent to people.'),
      policy_version: z.int().describe('The policy that was in force.'),
      rule: z.string().nullable().describe('The policy rule that matched.'),
      state_ref: z.string().nullable().describe('As the agent gave it.'),
      callback_url: z.string().nullable().describe('Where `request.resolved` is sent.'),
      event_id: z.string().nullable().describe('The event it is about.'),
      reply_to_event: z.string().nullable().describe('The event of the mail that it answers.'),
      thread: z.string().nullable().describe('What it belongs to, such as a session.'),
      lasts_until: z
        .string()
        .nullable()
        .describe('Until when the answer holds for others like it in the thread.'),
      bind: z.unknown().describe('The exact values that were shown to people.'),
      spent_at: z.string().nullable().describe('When the approval was used.'),
      spent_by: z.string().nullable().describe('What used it.'),
      approvals: z
        .object({
          needed: z.int().describe('How many people must approve.'),
          given: z
            .array(
              z.object({
                channel_id: z.string().describe('Who approved.'),
                at: z.string().describe('When.'),
              }),
            )
            .describe('Approvals so far.'),
        })
        .describe('For rules that need several people.'),
    })
    .describe('A question to people, and what became of it.'),
);

export type RequestRecord = z.output<typeof requestRecord>;

const PENDING_HINT =
  "Not decided yet. This isn't a denial. Save your state with state_save, then call request_status with this request_id.";
const HINTS: Readonly<Record<string, string>> = {
  expired: "Nobody decided in time, so it isn't approved.",
  needs_context: "Don't repeat this request: open a new one with details that answer the comment.",
};

/** The hint with which a request ended, whatever was said of it later. */
export function endHint({ status, hint }: Pick<RequestRecord, 'status' | 'hint'>): string | null {
  return unusedBecause(hint) === null ? hint : (HINTS[status] ?? null);
}

/** The record of a request at `now`. */
export async function toRecord(
  store: Repositories,
  row: RequestRow,
  now: number,
): Promise<RequestRecord> {
  const status = effectiveRequestStatus(row, now);
  const notices = await store.notices.ofRequest(row.id);
  return {
    request_id: row.id,
    kind: row.kind as RequestRecord['kind'],
    status,
    action: row.action,
    summary: row.summary,
    details: row.details,
    risk: row.risk as RequestRecord['risk'],
    amount: row.amount,
    warnings: await amountWarnings(store, row),
    question: row.question,
    options: texts(row.options),
    decision: row.decision,
    comment: row.comment,
    hint: await hintOf(store, row, { status, now }),
    reason: endingIn(row.hint)?.reason ?? null,
    decided_by: row.decided_by,
    decided_at: endedAt(row, status),
    created_at: row.created_at,
    expires_at: isoTime(row.expires_at),
    requested_by: { key_id: row.key_id, agent: row.agent, platform: row.platform },
    approvers: texts(row.approvers),
    notified: notices.filter(({ kind }) => kind === 'ask' || kind === 'tell').map(notified),
    policy_version: row.policy_version,
    rule: row.rule,
    state_ref: row.state_ref,
    callback_url: row.callback_url,
    event_id: row.event_id,
    reply_to_event: await answeredEvent(store, row),
    thread: row.thread,
    lasts_until: row.lasts_until === null ? null : isoTime(row.lasts_until),
    bind: row.bind === null ? null : parseExact(row.bind),
    spent_at: row.redeemed_at === null ? null : isoTime(row.redeemed_at),
    spent_by: row.spent_by,
    approvals: { needed: row.approvals, given: await givenApprovals(store, row) },
  };
}

/** The event of the mail that a request to send one answers; null for any other request. */
async function answeredEvent(
  { emails }: Repositories,
  { id, kind }: RequestRow,
): Promise<string | null> {
  // Without the mail itself, which may be long.
  const answers = kind === 'email_send' ? await emails.answersOfRequest(id) : null;
  return answersOf({ answers })?.event_id ?? null;
}

async function givenApprovals(
  store: Repositories,
  { id, approvals, status, decided_by: by, decided_at: at }: RequestRow,
): Promise<RequestRecord['approvals']['given']> {
  if (approvals > 1) {
    const votes = await store.votes.ofRequest(id);
    const counting = votes.filter(({ counts }) => counts === 1);
    return counting.map((vote) => ({ channel_id: vote.channel_id, at: isoTime(vote.at) }));
  }
  if (status !== 'approved' && status !== 'modified') return [];
  const [, channelId] = /^channel:(.*)$/.exec(by ?? '') ?? [];
  return channelId === undefined ? [] : [{ channel_id: channelId, at: isoTime(at ?? 0) }];
}

function notified(notice: ChannelNotice): RequestRecord['notified'][number] {
  const { channel_id, channel_kind: kind, status, sent_at, created_at } = notice;
  return { channel_id, kind, status, at: sent_at ?? created_at };
}

/** The answer of the call that asked, and of request_status. */
export const requestAnswer = named(
  'RequestAnswer',
  z
    .object({
      request_id: z.string().describe('`req_…`.'),
      status: z.enum(REQUEST_STATUSES).describe('Only `approved` and `modified` mean yes.'),
      decision: z
        .string()
        .nullable()
        .describe('The chosen option (`modified`) or the answer (`answered`).'),
      comment: z.string().nullable().describe('What the person added.'),
      hint: z.string().nullable().describe('What to do next.'),
      reason,
      decided_by: z.string().nullable().describe('`channel:<id>` or `policy:<rule>`.'),
      state_ref: z.string().nullable().describe('As you gave it.'),
      expires_at: z.string().describe('Without a decision it expires then.'),
      poll_after_seconds: z
        .int()
        .nullable()
        .describe('While it is pending: when to call request_status again.'),
    })
    .describe('How a request stands.'),
);

export type RequestAnswer = z.output<typeof requestAnswer>;

/** The answer about a request at `now`. */
export async function toAnswer(
  store: Repositories,
  row: RequestRow,
  now: number,
): Promise<RequestAnswer> {
  const status = effectiveRequestStatus(row, now);
  return {
    request_id: row.id,
    status,
    decision: row.decision,
    comment: row.comment,
    hint: await hintOf(store, row, { status, now }),
    reason: endingIn(row.hint)?.reason ?? null,
    decided_by: row.decided_by,
    state_ref: row.state_ref,
    expires_at: isoTime(row.expires_at),
    poll_after_seconds: status === 'pending' ? REQUEST_POLL_SECONDS : null,
  };
}

async function hintOf(
  store: Repositories,
  row: RequestRow,
  { status, now }: { readonly status: string; readonly now: number },
): Promise<string | null> {
  if (status === 'pending') {
    const until = await mutedUntil(store, row, now);
    return until === null ? PENDING_HINT : `${mutedHint(until)} ${PENDING_HINT}`;
  }
  return row.hint ?? HINTS[status] ?? null;
}

function mutedHint(until: number): string {
  return `muted: everyone asked has muted this key, the first of them until ${isoTime(until)}. The request waits for them then.`;
}

/** When the first person asked hears of the key again; null if somebody does now. */
async function mutedUntil(
  { noticeBudgets }: Repositories,
  { approvers, key_id: keyId }: RequestRow,
  now: number,
): Promise<number | null> {
  const budgets = await Promise.all(
    texts(approvers).map((channelId) => noticeBudgets.find({ channelId, keyId })),
  );
  if (budgets.length === 0 || !budgets.every((budget) => isMuted(budget, now))) return null;
  return Math.min(...budgets.map((budget) => budget.mutedUntil ?? now));
}

function endedAt(row: RequestRow, status: string): string | null {
  if (row.decided_at !== null) return isoTime(row.decided_at);
  return status === 'expired' ? isoTime(row.expires_at) : null;
}

/** Parses a JSON array of texts from a row. */
export function texts(json: string): string[] {
  return JSON.parse(json) as string[];
}
