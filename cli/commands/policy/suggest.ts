import type { PolicySuggestion } from '../../../clients/typescript/generated/types.ts';
import type { Answer } from '../../call/answers.ts';
import { describeRule } from '../../../shared/rules/policy/diff.ts';
import type { PolicyRule } from '../../../shared/rules/policy/document.ts';
import {
  suggestionText,
  suggestionWarning,
  withSuggestion,
} from '../../../shared/rules/policy/suggest.ts';
import { ruleOf } from '../../approvals/policy.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { textOption } from '../../input/option-values.ts';
import { callFor, callOperation, runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { shapeNamed } from '../../shapes/named.ts';
import type { View } from '../../view/output.ts';
import { safeLine, shellWord } from '../../view/terminal-text.ts';
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

/** `svc policy suggest`: shows the suggested rules, or proposes one. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'policy_suggest'>,
): Promise<number> {
  const action = textOption(context, 'apply');
  if (action === undefined) return runOperation(shape, context, suggestionsView);
  const { items: suggested } = await callOperation(shape, context);
  const found = suggested.find((one) => one.action === action);
  if (!found) throw notSuggested(action);
  return propose(context, found);
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
async function propose(context: CommandContext, suggested: PolicySuggestion): Promise<number> {
  const { client, signal } = context;
  const current = await client().call('policy_get', {}, { signal });
  const set = shapeNamed('policy_set');
  const { rule, before } = suggested;
  const rules = withSuggestion(current.rules.map(ruleOf), { rule: ruleOf(rule), before });
  const input = { policy: { rules }, note: suggestionText(suggested) };
  return proposePolicy(context, set, callFor(set, input));
}

function suggestionsView({ items: suggested }: Answer<'policy_suggest'>): View {
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
        look.green(`+ ${safeLine(describeRule(ruleOf(one.rule)))}`),
        ...warningLines(ruleOf(one.rule)),
        `  Next     svc policy suggest --apply ${shellWord(one.action)}`,
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
