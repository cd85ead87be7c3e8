import { conditionsOf } from './conditions.ts';
import type { PolicyDocument, PolicyRule } from './document.ts';

/**
 * A rule in one line, such as `pay-small: auto_approve when action is payment.* and amount <= 100`. The line is
 * complete: two rules with the same line are the same rule.
 */
export function describeRule(rule: PolicyRule): string {
  const conditions = conditionsOf(rule).map(({ wanted }) => wanted);
  const scope = conditions.length === 0 ? 'everything' : `when ${conditions.join(' and ')}`;
  const approvals = rule.approvals === undefined ? '' : `; approvals ${rule.approvals}`;
  const approvers = rule.approvers ? `; approvers ${rule.approvers.join(', ')}` : '';
  // Always quoted, because somebody wrote this text and it could read like more of the rule.
  const description = rule.description ? `; described as ${JSON.stringify(rule.description)}` : '';
  return `${rule.id}: ${rule.effect} ${scope}${approvers}${approvals}${description}`;
}

/**
 * The changes in a new policy, one line per rule: `+ ` for an added rule, `- ` for a removed one, two spaces for an
 * unchanged one. Rule order matters, so a moved rule appears as removed and added.
 */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): string[] {
  const old = before.rules.map(describeRule);
  const next = after.rules.map(describeRule);
  const common = commonLengths(old, next);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push(`  ${old[i]}`);
      i += 1;
      j += 1;
    } else if (j === next.length || (i < old.length && common(i + 1, j) >= common(i, j + 1))) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${next[j]}`);
      j += 1;
    }
  }
  return lines;
}

/** The length of the longest common subsequence from each pair of positions on, as a table. */
function commonLengths(
  old: readonly string[],
  next: readonly string[],
): (i: number, j: number) => number {
  const width = next.length + 1;
  const table = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      const same = old[i] === next[j];
      table[i * width + j] = same ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}
