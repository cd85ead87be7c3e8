import { endingIn } from '../../shared/rules/requests/request-state.ts';
import type { Request } from '../call/answers.ts';
import type { Look } from '../view/table.ts';
import { safeLine } from '../view/terminal-text.ts';
import { quorumOf } from './quorum.ts';

/** A request's fields, from the answer of the call that asked or from the whole record. */
export interface RequestState {
  readonly request_id?: string | null | undefined;
  readonly status?: string | undefined;
  readonly decision?: string | null | undefined;
  readonly comment?: string | null | undefined;
  readonly hint?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly decided_by?: string | null | undefined;
  readonly expires_at?: string | undefined;
  readonly approvals?: Request['approvals'];
}

/** Labels of channels by their ids. */
export type Names = ReadonlyMap<string, string>;

/** The state of a request in one safe sentence: `Approved by owner: go ahead`. */
export function decisionSentence(asked: RequestState, names: Names): string {
  const who = deciderOf(asked, names);
  const by = who && ` by ${who}`;
  const { status, decision, comment } = asked;
  const said = saidOf(comment);
  switch (status) {
    case 'approved':
      return `Approved${by}${said}`;
    case 'denied':
      return `Denied${by}${said}`;
    case 'modified':
      return `Approved${by}, choosing ${quoted(decision)}${said}`;
    case 'answered':
      return `Answered${by}${saidOf(decision)}`;
    case 'needs_context':
      return `More context is needed${who && `, says ${who}`}${said}`;
    case 'expired':
      return withdrawalOf(asked) ?? "Expired: nobody decided in time, so it isn't approved.";
    case 'pending':
      return "Not decided yet. This isn't a denial.";
    default:
      return safeLine(status ?? 'Unknown.');
  }
}

/** Why a request ended, where its status doesn't say it; a server of an earlier release says so in the hint alone. */
export function reasonOf({ hint, reason }: RequestState): string | null {
  return reason === undefined ? (endingIn(hint)?.reason ?? null) : reason;
}

/** Why a request was withdrawn, as a sentence; null if it wasn't. */
export function withdrawalOf(asked: RequestState): string | null {
  return reasonOf(asked) === 'withdrawn' ? endingOf(asked) : null;
}

/** What a hint says of why a request ended, as a sentence; null if it doesn't. */
export function endingOf(asked: RequestState): string | null {
  const reason = reasonOf(asked);
  if (reason === null || !asked.hint) return null;
  const text = endingIn(asked.hint)?.words ?? asked.hint;
  if (reason === 'unused') return safeLine(`Too late for the agent: ${text}`);
  if (reason === 'withdrawn') return safeLine(`Withdrawn: ${text}`);
  return safeLine(text.charAt(0).toUpperCase() + text.slice(1));
}

/** The mark before that sentence: approved, stopped or open. */
export function decisionMark(asked: RequestState, look: Look): string {
  switch (asked.status) {
    case 'approved':
    case 'modified':
    case 'answered':
      return look.green('✓');
    case 'denied':
    case 'expired':
      return look.red('✗');
    default:
      return look.yellow('…');
  }
}

/** The label of the channel that decided, or the policy rule; empty if nobody decided. */
function deciderOf(asked: RequestState, names: Names): string {
  const { decided_by: decidedBy, status } = asked;
  if (!decidedBy) return '';
  const [kind, id = ''] = decidedBy.split(/:(.*)/s);
  if (kind === 'policy') return safeLine(`the policy (rule ${id})`);
  const approved = status === 'approved' ? quorumOf(asked)?.given : undefined;
  const ids = approved?.map(({ channel_id }) => channel_id) ?? [id];
  return safeLine(ids.map((one) => names.get(one) ?? one).join(', '));
}

/** The ids of the channels that decided. */
export function decidingChannels(asked: RequestState): string[] {
  const { decided_by: decidedBy } = asked;
  if (!decidedBy?.startsWith('channel:')) return [];
  const approved = quorumOf(asked)?.given ?? [];
  return [decidedBy.slice('channel:'.length), ...approved.map(({ channel_id }) => channel_id)];
}

function saidOf(text: string | null | undefined): string {
  return text ? `: ${safeLine(text)}` : '.';
}

function quoted(text: string | null | undefined): string {
  return `"${safeLine(text ?? '')}"`;
}
