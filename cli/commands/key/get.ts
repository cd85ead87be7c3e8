import type { Answer } from '../../call/answers.ts';
import { endedLines, leftLines } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../call/operation-command.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['key revoke', 'key list'] };

export const run = showing<'key_get'>(keyView);

/** A key, who made it, and what it made. */
function keyView({ id, name, status, maker, scopes, ends, stays }: Answer<'key_get'>): View {
  return {
    lines: (look) => [
      look.bold(safeLine(`${name} (${id})`)),
      safeLine(`${status}, made by ${maker}`),
      safeLine(`Scopes: ${scopes.join(', ')}`),
      ...(ends.length > 0
        ? ['Revoking it ends:', ...endedLines(ends)]
        : ['It made nothing that revoking it would end.']),
      ...(stays.length > 0 ? ['Goes on in any case:', ...leftLines(stays, look)] : []),
    ],
  };
}
