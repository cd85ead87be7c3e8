import type { Answer } from '../../call/answers.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { WIDEST_TEXT } from '../../approvals/routes.ts';
import type { View } from '../../view/output.ts';
import { cutToWidth, safeLine } from '../../view/terminal-text.ts';

/** Fails if the receiver doesn't accept the sample, so that scripts notice. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'route_test'>,
): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, routeTestedView(answer));
  return answer.delivered ? EXIT.done : EXIT.refused;
}

/** The result of sending a sample. */
function routeTestedView(answer: Answer<'route_test'>): View {
  const { delivered, status_code: code, duration_ms: ms, error, response, event_id: id } = answer;
  const how = code === null ? (error ?? 'no answer') : `the receiver answered ${code}`;
  const text = safeLine(`${how}, in ${ms} ms`);
  return {
    lines: (look) => [
      delivered
        ? `${look.green('✓')} Delivered: ${text}`
        : `${look.red('✗')} Not delivered: ${text}`,
      ...(response
        ? [`  ${cutToWidth(safeLine(response), Math.min(look.columns, WIDEST_TEXT) - 2)}`]
        : []),
      look.faint(`  ${safeLine(id)}`),
    ],
  };
}
