import { isObject } from '../../../shared/lib/guards.ts';
import { endedLines, leftLines, thingsIn } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['key revoke', 'key list'] };

export const run = showing(keyView);

/** A key, who made it, and what it made. */
function keyView(answer: unknown): View {
  if (!isObject(answer)) return {};
  const { id, name, status, maker, scopes } = answer;
  const [ends, stays] = [thingsIn(answer, 'ends'), thingsIn(answer, 'stays')];
  return {
    lines: (look) => [
      look.bold(safeLine(`${plainText(name)} (${plainText(id)})`)),
      safeLine(`${plainText(status)}, made by ${plainText(maker)}`),
      safeLine(`Scopes: ${Array.isArray(scopes) ? scopes.map(plainText).join(', ') : ''}`),
      ...(ends.length > 0
        ? ['Revoking it ends:', ...endedLines(ends)]
        : ['It made nothing that revoking it would end.']),
      ...(stays.length > 0 ? ['Goes on in any case:', ...leftLines(stays, look)] : []),
    ],
  };
}
