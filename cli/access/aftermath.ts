import type { LeftThing, MadeThing } from '../../clients/typescript/generated/types.ts';
import type { Look } from '../view/table.ts';
import { safeLine } from '../view/terminal-text.ts';

/** What a change of members or of the project says that an owner must allow first. */
export function askedOwnerText(request: string): string {
  return `Asked an owner to allow it: ${request}. Until then nothing changes.`;
}

/** One line for each thing that ended, or would end. */
export function endedLines(things: readonly MadeThing[]): string[] {
  return things.map((thing) => safeLine(`  ${nameOf(thing)}`));
}

/** What goes on, each with how to end it. */
export function leftLines(things: readonly LeftThing[], look?: Look): string[] {
  return things.flatMap((thing) => {
    const hint = safeLine(`    ${thing.hint}`);
    return [safeLine(`  ${nameOf(thing)}`), look ? look.faint(hint) : hint];
  });
}

/** Such as `route https://example.com/hook (rte_…)`. */
function nameOf({ kind, id, name }: MadeThing): string {
  const what = `${kind.replaceAll('_', ' ')} ${name}`;
  return name === id ? what : `${what} (${id})`;
}

interface Aftermath {
  readonly ended?: readonly MadeThing[] | undefined;
  readonly left?: readonly LeftThing[] | undefined;
}

/** What became of everything that a maker had made, below a first line. */
export function aftermathLines({ ended = [], left = [] }: Aftermath, look: Look): string[] {
  return [
    ...(ended.length > 0 ? ['Ended with it:', ...endedLines(ended)] : []),
    ...(left.length > 0 ? ['Goes on:', ...leftLines(left, look)] : []),
  ];
}
