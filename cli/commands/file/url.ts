import { pathOf } from '../../../shared/rules/disk/disk-name.ts';
import { shellWord } from '../../view/terminal-text.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { readCall } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { ask, type AskResult } from '../../approvals/ask.ts';
import { ENDS } from '../../approvals/options.ts';

export const declaration: Additions = {
  description: `Anyone with the link can download the file without a key until the link expires. Replacing or deleting the file ends the link. A person may have to approve it first. Exit code 5: denied, expired or more context needed. ${ENDS}`,
};

/** `svc file url`: may need a person's approval. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'file_url'>,
): Promise<number> {
  return ask(shape, context, await readCall(shape, context), {
    isAsked: ({ kind, summary }, { path }) =>
      kind === 'file_url' && summary.startsWith(`Share ${pathOf(path)} by `),
    next,
  });
}

/** The same command creates the link once it has the approval. */
function next(request: string, { shape, call }: AskResult<'file_url'>): string {
  const { path, expires_in: given } = call.input;
  const standard = shape.fields.find(({ name }) => name === 'expires_in')?.default;
  const expires = given ?? standard;
  const times = expires === standard ? '' : ` --expires-in ${expires}`;
  return `svc file url ${shellWord(path)}${times} --approval ${request}`;
}
