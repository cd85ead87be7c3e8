import type { CommandSpec } from '../../command.ts';

const MOST = 4;

/** Related commands and pages, without the leading `svc`. If the command names none, others of the same noun. */
export function seeAlso(
  { words, seeAlso: related }: CommandSpec,
  commands: readonly CommandSpec[],
): readonly string[] {
  if (related) return related;
  const name = words.join(' ');
  const names = commands.map((one) => one.words.join(' '));
  return names.filter((one) => one !== name && one.split(' ')[0] === words[0]).slice(0, MOST);
}
