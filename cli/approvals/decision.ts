import type { Look } from '../view/table.ts';
import { plainText, safeLine } from '../view/terminal-text.ts';
import { quorumOf } from './quorum.ts';

/** An answer about a request, from the call that asked, from `request status` or from an event. */
export type Asked = Readonly<Record<string, unknown>>;

/** Labels of channels by their ids. */
export type Names = ReadonlyMap<string, string>;

/** The state of a request in one safe sentence: `Approved by owner: go ahead`. */
export function decisionSentence(asked: Asked, names: Names): string {
  const who = deciderOf(asked, names);
  const by = who && ` by ${who}`;
  const said = saidOf(asked['comment']);
  switch (asked['status']) {
    case 'approved':
      return `Approved${by}${said}`;
    case 'denied':
      return `Denied${by}${said}`;
    case 'modified':
      return `Approved${by}, choosing ${quoted(asked['decision'])}${said}`;
    case 'answered':
      return `Answered${by}${saidOf(asked['decision'])}`;
    case 'needs_context':
      return `More context is needed${who && `, says ${who}`}${said}`;
    case 'expired':
      return withdrawalOf(asked) ?? "Expired: nobody decided in time, so it isn't approved.";
    case 'pending':
      return "Not decided yet. This isn't a denial.";
    default:
      return safeLine(plainText(asked['status'] ?? 'Unknown.'));
  }
}

/** Why a request was withdrawn, as a sentence; null if it wasn't. */
export function withdrawalOf({ hint }: Asked): string | null {
  const [, reason] = /^withdrawn: (.*)$/s.exec(typeof hint === 'string' ? hint : '') ?? [];
  return reason === undefined ? null : `Withdrawn: ${safeLine(reason)}`;
}

/** The mark before that sentence: approved, stopped or open. */
export function decisionMark(asked: Asked, look: Look): string {
  switch (asked['status']) {
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
function deciderOf(asked: Asked, names: Names): string {
  const { decided_by: decidedBy, status } = asked;
  if (typeof decidedBy !== 'string') return '';
  const [kind, id = ''] = decidedBy.split(/:(.*)/s);
  if (kind === 'policy') return safeLine(`the policy (rule ${id})`);
  const approved = status === 'approved' ? quorumOf(asked)?.given : undefined;
  const ids = approved?.map(({ channelId }) => channelId) ?? [id];
  return safeLine(ids.map((one) => names.get(one) ?? one).join(', '));
}

/** The ids of the channels that decided. */
export function decidingChannels(asked: Asked): string[] {
  const { decided_by: decidedBy } = asked;
  if (typeof decidedBy !== 'string' || !decidedBy.startsWith('channel:')) return [];
  const approved = quorumOf(asked)?.given ?? [];
  return [decidedBy.slice('channel:'.length), ...approved.map(({ channelId }) => channelId)];
}

function saidOf(text: unknown): string {
  return typeof text === 'string' && text !== '' ? `: ${safeLine(text)}` : '.';
}

function quoted(text: unknown): string {
  return `"${safeLine(plainText(text ?? ''))}"`;
}
