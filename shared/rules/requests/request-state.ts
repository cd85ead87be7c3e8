import { isoTime } from '../../lib/clock.ts';

/**
 * What a request asks for. Only owners decide the last two: `channel` lets a new channel decide, `member` changes who has
 * power in the project.
 */
export const REQUEST_KINDS = [
  'approval',
  'question',
  'policy',
  'file_url',
  'email_send',
  'channel',
  'member',
] as const;

/** Every status but `pending` is final (spec section 3.2). */
export const REQUEST_STATUSES = [
  'pending',
  'approved',
  'denied',
  'modified',
  'needs_context',
  'expired',
  'answered',
] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** A person's response to a request. */
export type Choice =
  /** `lasts`: it also holds for calls like it in the same thread, for a while. */
  | {
      readonly verb: 'approve';
      readonly comment?: string;
      readonly lasts?: true;
      /** The rule that was suggested is proposed, too. */
      readonly proposes?: true;
    }
  /** `lasts`: the thread is stopped. */
  | { readonly verb: 'deny'; readonly comment?: string; readonly lasts?: true }
  /** Chooses an option by its index from 0: approves as modified, or answers a question. */
  | { readonly verb: 'option'; readonly index: number; readonly comment?: string }
  /** Answers a question in free text. */
  | { readonly verb: 'answer'; readonly text: string }
  | { readonly verb: 'needs_context'; readonly comment: string };

/** How a request ends. */
export interface Resolution {
  readonly status: Exclude<RequestStatus, 'pending'>;
  /** The chosen option, or the answer. */
  readonly decision: string | null;
  readonly comment: string | null;
}

const ANSWER_MAX_CHARS = 4000;
export const COMMENT_MAX_CHARS = 1000;

/** The status at `now`: a pending request past its expiry has expired, even if its row doesn't say so yet. */
export function effectiveRequestStatus(
  row: { readonly status: string; readonly expires_at: number },
  now: number,
): RequestStatus {
  if (row.status === 'pending' && row.expires_at <= now) return 'expired';
  return row.status as RequestStatus;
}

/** Why a request ended, where its status doesn't say it: it was taken back, came too late for the agent, or was stopped. */
export const END_REASONS = ['withdrawn', 'unused', 'stopped'] as const;

type EndReason = (typeof END_REASONS)[number];

/** The hint of a request that ended for this reason. */
function endHintOf(reason: EndReason, words: string): string {
  return `${reason}: ${words}`;
}

/** The reason that such a hint starts with, and its words; null for any other hint. */
export function endingIn(
  hint: string | null | undefined,
): { readonly reason: EndReason; readonly words: string } | null {
  const reason = END_REASONS.find((one) => hint?.startsWith(endHintOf(one, '')));
  if (!hint || reason === undefined) return null;
  return { reason, words: hint.slice(endHintOf(reason, '').length) };
}

function wordsOf(hint: string | null, reason: EndReason): string | null {
  const ending = endingIn(hint);
  return ending?.reason === reason ? ending.words : null;
}

/** The hint of a request that was taken back. */
export function withdrawnHint(reason: string): string {
  return endHintOf('withdrawn', reason);
}

/** Why a request was taken back, as its hint says; null if it wasn't. */
export function withdrawnBecause(hint: string | null): string | null {
  return wordsOf(hint, 'withdrawn');
}

/** The hint of a decision that came too late for the agent. */
export function unusedHint(reason: string): string {
  return endHintOf('unused', reason);
}

/** Why a decision came too late for the agent, as its hint says; null if it didn't. */
export function unusedBecause(hint: string | null): string | null {
  return wordsOf(hint, 'unused');
}

/** What the agent of a stopped thread reads. */
export function stoppedHint(until: number): string {
  const words = `a person stopped this session. Whatever it asks until ${isoTime(until)} is denied.`;
  return endHintOf('stopped', words);
}

/** Why a person can't make this choice, as a sentence. */
interface Problem {
  readonly problem: string;
}

/** The result of a choice, or why it isn't possible. */
export function resolutionOf(
  request: { readonly kind: RequestKind; readonly options: readonly string[] },
  choice: Choice,
): Resolution | Problem {
  const isQuestion = request.kind === 'question';
  switch (choice.verb) {
    case 'approve':
    case 'deny':
      if (isQuestion) return { problem: 'A question is answered, not approved or denied.' };
      return {
        status: choice.verb === 'approve' ? 'approved' : 'denied',
        decision: null,
        comment: textOf(choice.comment, COMMENT_MAX_CHARS),
      };
    case 'option': {
      const decision = request.options[choice.index];
      if (decision === undefined) return { problem: 'There is no such option.' };
      const comment = textOf(choice.comment, COMMENT_MAX_CHARS);
      return { status: isQuestion ? 'answered' : 'modified', decision, comment };
    }
    case 'answer':
      if (!isQuestion) return { problem: 'Only a question is answered in words.' };
      return answered(textOf(choice.text, ANSWER_MAX_CHARS));
    case 'needs_context':
      return inNeedOfContext(textOf(choice.comment, COMMENT_MAX_CHARS));
  }
}

function answered(decision: string | null): Resolution | Problem {
  if (decision === null) return { problem: 'The answer is empty.' };
  return { status: 'answered', decision, comment: null };
}

function inNeedOfContext(comment: string | null): Resolution | Problem {
  if (comment === null) return { problem: 'Say what is missing.' };
  return { status: 'needs_context', decision: null, comment };
}

/** Trimmed, cut at a whole character, and without characters that a row can't hold; null if nothing is left. */
function textOf(text: string | undefined, maxChars: number): string | null {
  const clean = (text ?? '').toWellFormed().replaceAll('\0', '').trim();
  const cut = Array.from(clean).slice(0, maxChars).join('');
  return cut === '' ? null : cut;
}
