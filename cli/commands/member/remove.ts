import type { Answer } from '../../call/answers.ts';
import { aftermathLines, askedOwnerText } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../call/operation-command.ts';
import type { View } from '../../view/output.ts';
import { safeLine, wrapNote } from '../../view/terminal-text.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';

export const declaration: Additions = { seeAlso: ['member list', 'member role'] };

export const run = showing<'member_remove'>(removedView);

/** A removed member, or the request to remove them. */
function removedView(answer: Answer<'member_remove'>): View {
  const { id, request_id: request, revoked_keys: keys } = answer;
  const text =
    request === null
      ? `Removed ${id} and revoked ${pluralize(keys.length, 'key')}. Web sessions, links and buttons stopped working too.`
      : askedOwnerText(request);
  return {
    lines: (look) => [...wrapNote(safeLine(text), look.columns), ...aftermathLines(answer, look)],
  };
}
