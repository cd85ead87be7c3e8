import { describeRule } from '../../shared/rules/policy/diff.ts';
import type { PolicyRule } from '../../shared/rules/policy/document.ts';
import { isObject } from '../../shared/untyped.ts';
import type { View } from '../view/output.ts';
import { age, type Look } from '../view/table.ts';
import { padToWidth, plainText, safeLine, textWidth, wrapText } from '../view/terminal-text.ts';
import type { Asked } from './decision.ts';

const WIDEST_TEXT = 110;

/** The policy that holds, a rule a line. */
export function policyView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['rules'])) return {};
  const rules = answer['rules'] as readonly PolicyRule[];
  return { lines: (look) => [...headLines(answer, look), ...ruleLines(rules, look)] };
}

function headLines({ version, note, approved_at: at }: Asked, look: Look): string[] {
  if (version === 0) {
    return [
      'There is no policy: every request goes to a person.',
      look.faint('Propose one: svc policy set @policy.json'),
    ];
  }
  const when = typeof at === 'string' ? `, approved ${age(at, look.now)}` : '';
  const said = typeof note === 'string' ? [`  ${safeLine(note)}`] : [];
  return [look.bold(`Policy version ${plainText(version)}${when}`), ...said];
}

/** `1  small  auto_approve  when action is payment.* and amount <= 100`; the first that matches decides. */
function ruleLines(rules: readonly PolicyRule[], look: Look): string[] {
  if (rules.length === 0) return [];
  const ids = rules.map(({ id }) => safeLine(plainText(id)));
  const effects = rules.map(({ effect }) => safeLine(plainText(effect)));
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
    look.faint('The first that matches decides; without one, a person does.'),
  ];
}

/** What stands behind id and effect in the words of the rule. */
function scopeOf(rule: PolicyRule): string {
  return describeRule(rule).slice(`${rule.id}: ${rule.effect} `.length);
}

/** Green lets pass, red stops, yellow asks. */
function effectText(effect: string, shown: string, look: Look): string {
  if (effect === 'deny') return look.red(shown);
  return effect === 'require_approval' ? look.yellow(shown) : look.green(shown);
}

/** What a policy would change. */
export function diffView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['lines'])) return {};
  const lines = answer['lines'].map((line) => safeLine(plainText(line)));
  const { version, changed } = answer;
  return {
    lines: (look) => [
      changed === true
        ? look.bold(`Against version ${plainText(version)}`)
        : `Nothing would change: it is version ${plainText(version)}.`,
      ...lines.map((line) => diffLine(line, look)),
    ],
  };
}

function diffLine(line: string, look: Look): string {
  if (line.startsWith('+')) return look.green(line);
  return line.startsWith('-') ? look.red(line) : look.faint(line);
}

/** How each rule came out, and which one decides. */
export function traceView(answer: unknown): View {
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

/** Rules behind the one that decides are not tried: they are shown, but not to catch the eye. */
function asBehind(look: Look): Look {
  const { faint } = look;
  return { ...look, green: faint, red: faint, bold: faint };
}

/** `✓` or `✗` with the rule in words, and below it what did not hold. */
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
