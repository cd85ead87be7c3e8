import type { Answer } from '../../call/answers.ts';
import { showingPolicy } from '../../approvals/policy.ts';
import type { Look } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** `svc policy diff`: shows what would change, and the linter's findings. */
export const run = showingPolicy<'policy_diff'>((answer) => ({
  lines: (look) => diffLines(answer, look),
}));

/** The changes that a policy would make. */
export function diffLines(
  { version, changed, lines }: Answer<'policy_diff'>,
  look: Look,
): string[] {
  return [
    changed ? look.bold(`Against version ${version}`) : `No changes: this is version ${version}.`,
    ...lines.map((line) => diffLine(safeLine(line), look)),
  ];
}

function diffLine(line: string, look: Look): string {
  if (line.startsWith('+')) return look.green(line);
  return line.startsWith('-') ? look.red(line) : look.faint(line);
}
