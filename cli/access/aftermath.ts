import { isObject } from '../../shared/lib/guards.ts';
import type { Look } from '../view/table.ts';
import { plainText, safeLine } from '../view/terminal-text.ts';

type Thing = Readonly<Record<string, unknown>>;

/** The things of one list of an answer. */
export function thingsIn(answer: unknown, list: string): readonly Thing[] {
  const items: unknown = isObject(answer) ? answer[list] : null;
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/** One line for each thing that ended, or would end. */
export function endedLines(things: readonly Thing[]): string[] {
  return things.map((thing) => safeLine(`  ${nameOf(thing)}`));
}

/** What goes on, each with how to end it. */
export function leftLines(things: readonly Thing[], look?: Look): string[] {
  return things.flatMap((thing) => {
    const hint = safeLine(`    ${plainText(thing['hint'])}`);
    return [safeLine(`  ${nameOf(thing)}`), look ? look.faint(hint) : hint];
  });
}

/** Such as `route https://example.com/hook (rte_…)`. */
function nameOf({ kind, id, name }: Thing): string {
  const what = `${plainText(kind).replaceAll('_', ' ')} ${plainText(name)}`;
  return name === id ? what : `${what} (${plainText(id)})`;
}

/** What became of everything that a maker had made, below a first line. */
export function aftermathLines(answer: unknown, look: Look): string[] {
  const [ended, left] = [thingsIn(answer, 'ended'), thingsIn(answer, 'left')];
  return [
    ...(ended.length > 0 ? ['Ended with it:', ...endedLines(ended)] : []),
    ...(left.length > 0 ? ['Goes on:', ...leftLines(left, look)] : []),
  ];
}
