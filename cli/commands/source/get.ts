import type { Answer } from '../../call/answers.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { switchOption } from '../../input/option-values.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import type { View } from '../../view/output.ts';
import { repeatedText } from '../../../shared/rules/inbox/source-setup.ts';
import { wrapText } from '../../view/terminal-text.ts';
import { setupLines } from '../../view/source-steps.ts';
import { readableView } from '../../view/view.ts';

export const declaration: Additions = {
  description: 'Also says how to connect the sender, until the first delivery has arrived.',
  stored: { name: 'sources' },
  moreOptions: [
    { flag: 'steps', summary: 'Say how to connect the sender, whatever has arrived.' },
    WATCH_OPTION,
  ],
  moreExamples: ['source get github --steps'],
  seeAlso: ['source list', 'source rotate', 'trigger', 'logs'],
};

/** `svc source get`: with the steps to connect the sender, if nothing has come from it or with `--steps`. */
export function run(context: CommandContext, shape: OperationShape<'source_get'>): Promise<number> {
  return runOperation(shape, context, (answer) => viewOf(answer, switchOption(context, 'steps')));
}

function viewOf(source: Answer<'source_get'>, wantsSteps: boolean): View {
  const { last_event_at: last, rejected_24h: refused, repeated_24h: repeated } = source;
  const isSame = repeatedText(repeated ?? 0);
  return {
    lines: (look) => [
      ...readableView(source, {}, look),
      ...(last === null ? ['', 'Nothing has arrived yet.'] : []),
      ...(refused > 0 ? ['', look.typed('To see why deliveries were refused: svc logs')] : []),
      ...(isSame === null ? [] : ['', ...wrapText(isSame, Math.min(look.columns, 96))]),
      ...(last === null || wantsSteps ? ['', ...setupLines(source, look)] : []),
    ],
  };
}
