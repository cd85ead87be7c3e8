import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { label } from '../fields.ts';
import { currentName } from './apply.ts';
import { changeOrAsk, refuseOnOneMachine } from './change.ts';

/** As long as when it is created. */
const NAME_MAX_CHARS = 100;

export const projectRename = defineOperation({
  name: 'project_rename',
  summary: 'Rename the project.',
  description:
    "Changes the name that people read. The slug stays, because mail addresses and links contain it. An owner's browser does it at once; with a key, an owner must approve.",
  scope: 'admin',
  input: z.strictObject({
    name: label(NAME_MAX_CHARS)
      .refine((text) => text.trim() !== '', 'There is nothing but blanks.')
      .describe('What people read.'),
  }),
  output: z.object({
    project: z
      .object({
        id: z.string().describe('`prj_…`.'),
        slug: z.string().describe('Part of addresses and links.'),
        name: z.string().describe('The new name, or the old one until an owner allows it.'),
      })
      .describe('The project.'),
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'PUT', path: '/v1/project' },
  mcp: false,
  cli: { usage: 'project rename <name>', examples: ['project rename "Web shop"'] },
  example: { name: 'Web shop' },
}).write({
  commit: async (context, { name }) => {
    refuseOnOneMachine(context.server, 'Nobody else reads its name.');
    const { id, slug } = context.project;
    const before = await currentName(context);
    if (name === before) return { project: { id, slug, name }, request_id: null };
    const { isDone, requestId } = await changeOrAsk(
      context,
      { change: 'rename', name },
      `Rename the project to ${name}`,
    );
    return { project: { id, slug, name: isDone ? name : before }, request_id: requestId };
  },
});
