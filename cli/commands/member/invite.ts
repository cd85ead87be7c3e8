import type { Answer } from '../../answers.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import { exitOf, printOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import type { View } from '../../view/output.ts';
import { age } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['member list', 'login', 'request status'] };

export async function run(
  context: CommandContext,
  shape: OperationShape<'member_invite'>,
): Promise<number> {
  const answer = await printOperation(shape, context, invitedView);
  await tellOutbox(context, answer.request_id === null ? 'The mail' : 'The question');
  return exitOf(answer);
}

/** An invitation and what happens next. */
function invitedView({ member, request_id: request }: Answer<'member_invite'>): View {
  const { id, address, role, expires_at: expires } = member;
  return {
    lines: (look) => {
      const person = `${address ?? 'someone'} as ${role}`;
      const ends = expires === null ? '' : ` The link expires ${age(expires, look.now)}.`;
      const lines =
        request === null
          ? [
              look.bold(safeLine(`Invited ${person}.${ends}`)),
              'They open the link in the mail, accept, and run: svc login',
            ]
          : [
              look.bold(safeLine(`Asked an owner to allow inviting ${person}.`)),
              safeLine(`Once they approve (${request}), svc mails the invitation.`),
            ];
      return [...lines, look.faint(safeLine(id))];
    },
  };
}
