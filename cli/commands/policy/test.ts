import type { Answer } from '../../call/answers.ts';
import { showingPolicy, effectText } from '../../approvals/policy.ts';
import type { View } from '../../view/output.ts';
import type { Look } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** `svc policy test`: shows each rule's result. */
export const run = showingPolicy<'policy_test'>(traceView);

/** Each rule's result, and which rule decides. */
function traceView({ trace: steps, effect, sentence }: Answer<'policy_test'>): View {
  const deciding = steps.findIndex(({ decides }) => decides);
  return {
    lines: (look) => [
      ...steps.flatMap((step, index) =>
        stepLines(step, deciding !== -1 && index > deciding ? asBehind(look) : look),
      ),
      ...(steps.length > 0 ? [''] : []),
      effectText(effect, safeLine(sentence), look),
    ],
  };
}

/** Rules after the deciding one aren't tried, so they're shown faint. */
function asBehind(look: Look): Look {
  const { faint } = look;
  return { ...look, green: faint, red: faint, bold: faint };
}

type Step = Answer<'policy_test'>['trace'][number];

/** `✓` or `✗` with the rule in words, and below it the conditions that failed. */
function stepLines({ says, matched, failed }: Step, look: Look): string[] {
  const text = safeLine(says);
  if (matched) return [`${look.green('✓')} ${look.bold(text)}`];
  return [
    `${look.red('✗')} ${text}`,
    ...failed.map(({ wanted, given }) => look.faint(`    ${safeLine(`${wanted}: no, ${given}`)}`)),
  ];
}
