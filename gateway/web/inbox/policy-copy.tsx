import type { JSX } from 'hono/jsx/jsx-runtime';
import { conditionsOf } from '../../../shared/rules/policy/conditions.ts';
import type { PolicyEffect, PolicyRule } from '../../../shared/rules/policy/document.ts';
import { AgentText } from '../pages/request-copy.tsx';
import type { Tone } from './parts.tsx';

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

/** The rest of a rule: its id, its approvers and its description. */
export function RuleMeta({
  rule,
  names,
}: {
  readonly rule: PolicyRule;
  /** Channel labels by id. */
  readonly names: ReadonlyMap<string, string>;
}): JSX.Element {
  const { id, approvers, description } = rule;
  return (
    <span class="meta">
      <span class="mono">{id}</span>
      {approvers && (
        <>
          {' · to '}
          <AgentText
            text={approvers.map((one) => names.get(one) ?? one).join(', ')}
            reading="line"
          />
        </>
      )}
      {description !== undefined && (
        <>
          {' · “'}
          <AgentText text={description} reading="line" />”
        </>
      )}
    </span>
  );
}
