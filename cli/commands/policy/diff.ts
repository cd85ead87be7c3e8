import { isObject } from '../../../shared/lib/guards.ts';
import { showingPolicy } from '../../approvals/policy.ts';
import type { View } from '../../view/output.ts';
import type { Look } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

/** `svc policy diff`: shows what would change, and the linter's findings. */
export const run = showingPolicy(diffView);

/** The changes that a policy would make. */
export function diffView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['lines'])) return {};
  const lines = answer['lines'].map((line) => safeLine(plainText(line)));
  const { version, changed } = answer;
  return {
    lines: (look) => [
      changed === true
        ? look.bold(`Against version ${plainText(version)}`)
        : `No changes: this is version ${plainText(version)}.`,
      ...lines.map((line) => diffLine(line, look)),
    ],
  };
}

function diffLine(line: string, look: Look): string {
  if (line.startsWith('+')) return look.green(line);
  return line.startsWith('-') ? look.red(line) : look.faint(line);
}
