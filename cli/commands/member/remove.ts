import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'member role'] };

export const run = showing(removedView);

/** A removed member, or the request to remove them. */
function removedView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['revoked_keys'])) return {};
  const { id, request_id: request, revoked_keys: keys, removed_channels: channels } = answer;
  const removed =
    Array.isArray(channels) && channels.length > 0
      ? ` Removed channels that they added: ${channels.map(plainText).join(', ')}.`
      : '';
  const text =
    typeof request === 'string'
      ? `Asked an owner to allow it: ${request}. Until then nothing changes.`
      : `Removed ${plainText(id)} and revoked ${keys.length === 1 ? '1 key' : `${keys.length} keys`}. Web sessions, links and buttons stopped working too.${removed}`;
  return { lines: () => [safeLine(text)] };
}
