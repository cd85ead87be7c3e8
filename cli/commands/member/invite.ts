import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import { exitOf, printOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import type { View } from '../../view/output.ts';
import { age } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'login', 'request status'] };

export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await printOperation(shape, context, invitedView);
  const isMailed = isObject(answer) && typeof answer['request_id'] !== 'string';
  await tellOutbox(context, isMailed ? 'The mail' : 'The question');
  return exitOf(answer);
}

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
