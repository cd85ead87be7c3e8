import { isObject } from '../../../shared/lib/guards.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { WIDEST_TEXT } from '../../approvals/routes.ts';
import type { View } from '../../view/output.ts';
import { cutToWidth, plainText, safeLine } from '../../view/terminal-text.ts';

/** Fails if the receiver doesn't accept the sample, so that scripts notice. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, routeTestedView(answer));
  return isObject(answer) && answer['delivered'] === false ? EXIT.refused : EXIT.done;
}

/** The result of sending a sample. */
function routeTestedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['delivered'] !== 'boolean') return {};
  const { delivered, status_code: code, duration_ms: ms, error, response, event_id: id } = answer;
  const how =
    code === null ? plainText(error ?? 'no answer') : `the receiver answered ${plainText(code)}`;
  const text = safeLine(`${how}, in ${plainText(ms)} ms`);
  const said = typeof response === 'string' && response !== '' ? response : null;
  return {
    lines: (look) => [
      delivered
        ? `${look.green('✓')} Delivered: ${text}`
        : `${look.red('✗')} Not delivered: ${text}`,
      ...(said === null
        ? []
        : [`  ${cutToWidth(safeLine(said), Math.min(look.columns, WIDEST_TEXT) - 2)}`]),
      look.faint(`  ${safeLine(plainText(id))}`),
    ],
  };
}
