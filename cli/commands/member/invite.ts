import type { Answer } from '../../call/answers.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import { exitOf, printOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import type { View } from '../../view/output.ts';
import { age } from '../../view/table.ts';
import { safeLine, wrapNote } from '../../view/terminal-text.ts';

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
      const [first, next] =
        request === null
          ? [
              `Invited ${person}.${ends}`,
              'They open the link in the mail, accept, and run: svc login',
            ]
          : [
              `Asked an owner to allow inviting ${person}.`,
              `Once they approve (${request}), svc writes the mail with the invitation.`,
            ];
      return [
        ...wrapNote(safeLine(first), look.columns).map(look.bold),
        ...wrapNote(safeLine(next), look.columns),
        look.faint(safeLine(id)),
      ];
    },
  };
}
