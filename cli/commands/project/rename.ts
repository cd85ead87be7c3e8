import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['project list', 'project delete'] };

export const run = showing(renamedView);

/** The project's name, or the request to change it. */
function renamedView(answer: unknown): View {
  if (!isObject(answer) || !isObject(answer['project'])) return {};
  const { project, request_id: request } = answer;
  const text =
    typeof request === 'string'
      ? `Asked an owner to allow it: ${request}. Until then nothing changes.`
      : `The project's name is ${plainText(project['name'])}.`;
  return { lines: () => [safeLine(text)] };
}
