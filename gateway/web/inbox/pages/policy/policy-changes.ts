import { pluralize } from '../../../../../shared/lib/pluralize.ts';

/** Unchanged lines shown around each change. */
const AROUND = 2;
/** With the document in its field, more would be too much for a page. */
const SHOWN_MAX_CHARS = 60_000;

interface ShownChanges {
  /** `+ …`, `- …` and `  …`. */
  readonly lines: readonly string[];
  /** How many changed lines are left out at the end. */
  readonly left: number;
}

/** The changes of a policy with the lines around them. Stretches that stay as they are become one line. */
export function shownChanges(all: readonly string[]): ShownChanges {
  const isNear = all.map((_, at) =>
    all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(isChange),
  );
  const lines: string[] = [];
  let chars = 0;
  let skipped = 0;
  for (const [at, line] of all.entries()) {
    if (isNear[at] !== true) {
      skipped += 1;
      if (isNear[at + 1] === false) continue;
      lines.push(`  … ${pluralize(skipped, 'line')} unchanged`);
      skipped = 0;
      continue;
    }
    chars += line.length;
    if (chars > SHOWN_MAX_CHARS) {
      return { lines, left: all.slice(at).filter(isChange).length };
    }
    lines.push(line);
  }
  return { lines, left: 0 };
}

function isChange(line: string): boolean {
  return !line.startsWith(' ');
}
