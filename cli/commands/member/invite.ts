import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { age } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'login', 'request status'] };

export const run = showing(invitedView);

/** An invitation and what happens next. */
function invitedView(answer: unknown): View {
  if (!isObject(answer) || !isObject(answer['member'])) return {};
  const { member, request_id: request } = answer;
  const { id, address, role, expires_at: expires } = member;
  return {
    lines: (look) => {
      const person = `${plainText(address)} as ${plainText(role)}`;
      const ends =
        typeof expires === 'string' ? ` The link expires ${age(expires, look.now)}.` : '';
      const lines =
        typeof request === 'string'
          ? [
              look.bold(safeLine(`Asked an owner to allow inviting ${person}.`)),
              safeLine(`Once they approve (${request}), svc mails the invitation.`),
            ]
          : [
              look.bold(safeLine(`Invited ${person}.${ends}`)),
              'They open the link in the mail, accept, and run: svc login',
            ];
      return [...lines, look.faint(safeLine(plainText(id)))];
    },
  };
}
