import { isObject } from '../../../shared/lib/guards.ts';
import { aftermathLines } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'member role'] };

export const run = showing(removedView);

/** A removed member, or the request to remove them. */
function removedView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['revoked_keys'])) return {};
  const { id, request_id: request, revoked_keys: keys } = answer;
  const text =
    typeof request === 'string'
      ? `Asked an owner to allow it: ${request}. Until then nothing changes.`
      : `Removed ${plainText(id)} and revoked ${keys.length === 1 ? '1 key' : `${keys.length} keys`}. Web sessions, links and buttons stopped working too.`;
  return { lines: (look) => [safeLine(text), ...aftermathLines(answer, look)] };
}
