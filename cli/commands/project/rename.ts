import { askedOwnerText } from '../../access/aftermath.ts';
import type { Additions } from '../../command.ts';
import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['project list', 'project delete'] };

/** The project's name, or the request to change it. */
export const run = showing<'project_rename'>(({ project, request_id: request }) => {
  const text =
    request === null ? `The project's name is ${project.name}.` : askedOwnerText(request);
  return { lines: () => [safeLine(text)] };
});
