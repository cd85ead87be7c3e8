import type { JSX } from 'hono/jsx/jsx-runtime';
import { conditionsOf } from '../../../../../shared/rules/policy/conditions.ts';
import type { PolicyEffect, PolicyRule } from '../../../../../shared/rules/policy/document.ts';
import { dotted, line } from '../../../ui/text.tsx';
import { Chip, type Tone } from '../../../ui/parts.tsx';

interface EffectWords {
  readonly text: string;
  readonly tone: Tone;
  /** What happens to the call. */
  readonly line: string;
}

export const EFFECTS: Readonly<Record<PolicyEffect, EffectWords>> = {
  allow: { text: 'Allowed', tone: 'good', line: 'It goes ahead. Nobody is asked.' },
  deny: { text: 'Refused', tone: 'bad', line: 'It’s refused at once.' },
  require_approval: {
    text: 'A person decides',
    tone: 'calm',
    line: 'It waits until a person decides.',
  },
  auto_approve: {
    text: 'Approved',
    tone: 'good',
    line: 'It’s approved at once. Nobody is asked.',
  },
  auto_approve_notify: {
    text: 'Approved, people notified',
    tone: 'good',
    line: 'It’s approved at once, and people are notified.',
  },
};

/** When a rule applies, such as `When action is payment.* and amount <= 100`. */
export function whenText(rule: PolicyRule): string {
  const conditions = conditionsOf(rule).map(({ wanted }) => wanted);
  return conditions.length === 0 ? 'Always' : `When ${conditions.join(' and ')}`;
}

export function effectChip(effect: PolicyEffect): JSX.Element {
  const { text, tone } = EFFECTS[effect];
  return <Chip text={text} tone={tone} />;
}

/** The rest of a rule: its id, its approvers and its description. `names` has channel labels by id. */
export function ruleMeta(
  { id, approvers, description }: PolicyRule,
  names: ReadonlyMap<string, string>,
): JSX.Element {
  const to = approvers?.map((one) => names.get(one) ?? one).join(', ');
  return (
    <span class="meta">
      {dotted([
        <span class="mono">{id}</span>,
        to !== undefined && <>to {line(to)}</>,
        description !== undefined && <>“{line(description)}”</>,
      ])}
    </span>
  );
}
