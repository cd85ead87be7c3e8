import { askedOwnerText } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'member remove'] };

/** A member with a new role, or the request for it. */
export const run = showing<'member_role'>(({ member, request_id: request }) => {
  const text =
    request === null
      ? `${member.address ?? member.id} is ${member.role} now.`
      : askedOwnerText(request);
  return { lines: () => [safeLine(text)] };
});
