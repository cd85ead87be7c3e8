import { describeRule } from '../../../shared/rules/policy/diff.ts';
import type { PolicyRule } from '../../../shared/rules/policy/document.ts';
import { showing } from '../../call/operation-command.ts';
import type { Answer } from '../../call/answers.ts';
import { effectText, ruleOf } from '../../approvals/policy.ts';
import type { View } from '../../view/output.ts';
import { age, type Look } from '../../view/table.ts';
import { padToWidth, safeLine, textWidth, wrapText } from '../../view/terminal-text.ts';

export const run = showing<'policy_get'>(policyView);

const WIDEST_TEXT = 110;

/** The current policy, one rule per line. */
export function policyView(policy: Answer<'policy_get'>): View {
  return {
    lines: (look) => [...headLines(policy, look), ...ruleLines(policy.rules.map(ruleOf), look)],
  };
}

function headLines({ version, note, approved_at: at }: Answer<'policy_get'>, look: Look): string[] {
  if (version === 0) {
    return [
      'No policy yet: every request goes to a person.',
      look.faint('Propose one: svc policy set @policy.json'),
    ];
  }
  const when = at === null ? '' : `, approved ${age(at, look.now)}`;
  const said = note === null ? [] : [`  ${safeLine(note)}`];
  return [look.bold(`Policy version ${version}${when}`), ...said];
}

/** `1  small  auto_approve  when action is payment.* and amount <= 100`; the first match decides. */
function ruleLines(rules: readonly PolicyRule[], look: Look): string[] {
  if (rules.length === 0) return [];
  const ids = rules.map(({ id }) => safeLine(id));
  const effects = rules.map(({ effect }) => safeLine(effect));
  const [idWidth, effectWidth] = [ids, effects].map((all) => Math.max(...all.map(textWidth)));
  const lines = rules.flatMap((rule, index) => {
    const [id = '', effect = ''] = [ids[index], effects[index]];
    const place = String(index + 1).padStart(String(rules.length).length);
    const left = `  ${place}  ${padToWidth(id, idWidth ?? 0)}  `;
    const indent = ' '.repeat(textWidth(left) + (effectWidth ?? 0) + 2);
    const room = Math.max(30, Math.min(look.columns, WIDEST_TEXT) - indent.length);
    const [first = '', ...more] = wrapText(safeLine(scopeOf(rule)), room);
    const shown = effectText(effect, padToWidth(effect, effectWidth ?? 0), look);
    return [`${left}${shown}  ${first}`.trimEnd(), ...more.map((line) => indent + line)];
  });
  return [
    '',
    ...lines,
    '',
    look.faint('The first matching rule decides; if none matches, a person does.'),
  ];
}

/** The rule in words, without its id and effect. */
function scopeOf(rule: PolicyRule): string {
  return describeRule(rule).slice(`${rule.id}: ${rule.effect} `.length);
}
