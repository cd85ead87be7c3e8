import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { invalid } from '../../lib/errors.ts';
import { currentName } from './apply.ts';
import { changeOrAsk, refuseOnOneMachine } from './change.ts';

export const projectDelete = defineOperation({
  name: 'project_delete',
  summary: 'Delete the project with everything in it, for good.',
  description:
    "Ends every key, session, wait and replica at once, then erases events, files, mail and the ledger. Backups that the operator made keep their copy. An owner's browser does it at once; with a key, an owner must approve.",
  scope: 'admin',
  input: z.strictObject({
    name: z.string().describe("The project's name, so that nobody deletes another one by mistake."),
  }),
  output: z.object({
    deleted: z.boolean().describe('False if an owner decides first.'),
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/project' },
  mcp: false,
  cli: {
    usage: 'project delete <name>',
    examples: ['project delete "Web shop"'],
  },
  example: { name: 'Test' },
}).write({
  commit: async (context, { name }) => {
    refuseOnOneMachine(context.server, 'To delete it, run svc down and delete the data folder.');
    const current = await currentName(context);
    if (name !== current) {
      throw invalid({ path: 'name', message: "This isn't the project's name. See: svc whoami" });
    }
    const { isDone, requestId } = await changeOrAsk(
      context,
      { change: 'delete' },
      `Delete the project ${current} with everything in it, for good`,
    );
    return { deleted: isDone, request_id: requestId };
  },
});
