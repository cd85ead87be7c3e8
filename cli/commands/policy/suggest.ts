import { isObject } from '../../../shared/lib/guards.ts';
import { describeRule } from '../../../shared/rules/policy/diff.ts';
import type { PolicyRule } from '../../../shared/rules/policy/document.ts';
import {
  suggestionText,
  suggestionWarning,
  withSuggestion,
} from '../../../shared/rules/policy/suggest.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { textOption } from '../../input/option-values.ts';
import { callFor, callOperation, showing } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { operationShapes } from '../../shapes/operations.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine, shellWord } from '../../view/terminal-text.ts';
import { proposePolicy } from './set.ts';

export const declaration: Additions = {
  description: `Looks at what people decided in the last 30 days. An action with 5 or more approvals, and no other outcome, gets a rule with the effect auto_approve_notify, so that people stay informed. --apply adds that rule to the current policy and proposes it: nothing changes until a person approves. Exit code 5: denied, expired or more context needed. ${ENDS}`,
  writes: true,
  moreOptions: [
    { flag: 'apply', value: 'ACTION', summary: "Propose this action's rule." },
    UNTIL_DECIDED,
  ],
  moreExamples: ['policy suggest --apply pr.merge'],
  seeAlso: ['policy set', 'policy test', 'request list'],
};

/** One suggestion, as the API answers it. */
interface Suggestion {
  readonly action: string;
  readonly approved: number;
  readonly since: string;
  readonly by: number;
  readonly rule: PolicyRule;
  readonly before: string | null;
}

/** `svc policy suggest`: shows the suggested rules, or proposes one. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const action = textOption(context, 'apply');
  if (action === undefined) return showing(suggestionsView)(context, shape);
  const suggested = suggestionsIn(await callOperation(shape, context));
  const found = suggested.find((one) => one.action === action);
  if (!found) throw notSuggested(action);
  return propose(context, found);
}

function suggestionsIn(answer: unknown): readonly Suggestion[] {
  if (!isObject(answer) || !Array.isArray(answer['items'])) return [];
  return answer['items'] as readonly Suggestion[];
}

function notSuggested(action: string): CliError {
  return new CliError({
    code: 'NOT_FOUND',
    message: `No rule is suggested for ${safeLine(action)}.`,
    hint: 'See what is suggested: svc policy suggest',
    exit: EXIT.refused,
  });
}

/** Proposes the current policy with the suggested rule, as `policy set` does. */
async function propose(context: CommandContext, suggested: Suggestion): Promise<number> {
  const { signal } = context;
  const current = await context.client().call('GET', '/v1/policy', { signal });
  const set = operationShapes.find(({ name }) => name === 'policy_set');
  if (!set || !isObject(current)) throw new Error('There is no policy to propose.');
  const rules = withSuggestion(current['rules'] as readonly PolicyRule[], suggested);
  const input = { policy: { rules }, note: suggestionText(suggested) };
  return proposePolicy(context, set, callFor(set, input));
}

function suggestionsView(answer: unknown): View {
  const suggested = suggestionsIn(answer);
  if (suggested.length === 0) {
    return {
      lines: () => [
        'Nothing to suggest. No action that people decide has 5 approvals and no denial in the last 30 days.',
      ],
    };
  }
  return {
    lines: (look) => [
      ...suggested.flatMap((one) => [
        look.bold(safeLine(suggestionText(one))),
        look.green(`+ ${safeLine(describeRule(one.rule))}`),
        ...warningLines(one.rule),
        `  Next     svc policy suggest --apply ${shellWord(plainText(one.action))}`,
        '',
      ]),
      look.faint('The rule approves at once and tells people. It holds once a person approves it.'),
    ],
  };
}

function warningLines(rule: PolicyRule): string[] {
  const warning = suggestionWarning(rule);
  return warning === null ? [] : [`  ${warning}`];
}
