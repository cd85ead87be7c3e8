import { isObject } from '../../../shared/lib/guards.ts';
import type { Asked } from '../../approvals/decision.ts';
import { showingPolicy, effectText } from '../../approvals/policy.ts';
import type { View } from '../../view/output.ts';
import type { Look } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

/** `svc policy test`: shows each rule's result. */
export const run = showingPolicy(traceView);

/** Each rule's result, and which rule decides. */
function traceView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['trace'])) return {};
  const steps = answer['trace'].filter(isObject);
  const deciding = steps.findIndex(({ decides }) => decides === true);
  return {
    lines: (look) => [
      ...steps.flatMap((step, index) =>
        stepLines(step, deciding !== -1 && index > deciding ? asBehind(look) : look),
      ),
      ...(steps.length > 0 ? [''] : []),
      verdictLine(answer, look),
    ],
  };
}

/** Rules after the deciding one aren't tried, so they're shown faint. */
function asBehind(look: Look): Look {
  const { faint } = look;
  return { ...look, green: faint, red: faint, bold: faint };
}

/** `✓` or `✗` with the rule in words, and below it the conditions that failed. */
function stepLines({ says, matched, failed }: Asked, look: Look): string[] {
  const text = safeLine(plainText(says));
  if (matched === true) return [`${look.green('✓')} ${look.bold(text)}`];
  const reasons = Array.isArray(failed) ? failed.filter(isObject) : [];
  return [
    `${look.red('✗')} ${text}`,
    ...reasons.map(({ wanted, given }) =>
      look.faint(`    ${safeLine(plainText(wanted))}: no, ${safeLine(plainText(given))}`),
    ),
  ];
}

function verdictLine({ effect, sentence }: Asked, look: Look): string {
  const text = safeLine(plainText(sentence));
  return effectText(plainText(effect), text, look);
}
