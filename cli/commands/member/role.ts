import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'member remove'] };

export const run = showing(roleView);

/** A member with a new role, or the request for it. */
function roleView(answer: unknown): View {
  if (!isObject(answer) || !isObject(answer['member'])) return {};
  const { member, request_id: request } = answer;
  const text =
    typeof request === 'string'
      ? `Asked an owner to allow it: ${request}. Until then nothing changes.`
      : `${plainText(member['address'])} is ${plainText(member['role'])} now.`;
  return { lines: () => [safeLine(text)] };
}
