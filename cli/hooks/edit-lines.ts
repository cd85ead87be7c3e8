/** Lines around a change that show where it is. */
const AROUND = 2;

/** What changes from one text to another, as `- ` and `+ ` lines with some unchanged ones around them. */
export function changedLines(before: string, after: string): string[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, next.length);
  let start = 0;
  while (start < most && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return [
    ...marked(' ', old.slice(Math.max(0, start - AROUND), start)),
    ...marked('-', old.slice(start, old.length - end)),
    ...marked('+', next.slice(start, next.length - end)),
    ...marked(' ', old.slice(old.length - end, old.length - end + AROUND)),
  ];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${mark} ${line}`);
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
