import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isReservedPath } from '../../rules/disk/disk-name.ts';
import { deleteCondition, filePath, refuseOtherVersion } from '../disk-fields.ts';
import { deleteFile } from './save.ts';

export const fileDelete = defineOperation({
  name: 'file_delete',
  summary: 'Delete a file and end its links.',
  description:
    'Says whether the file existed. Frees its space at once and cancels open uploads to the path.',
  scope: 'disk',
  disk: { field: 'path', kind: 'path' },
  input: z.strictObject({ path: filePath, ...deleteCondition }),
  output: z.object({ deleted: z.boolean().describe('False if there was no such file.') }),
  errors: ['PATH_RESERVED', 'PRECONDITION_FAILED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/files/{path+}', versioned: true },
  mcp: { title: 'Delete a file', destructive: true, idempotent: true, without: ['if_exists'] },
  cli: { usage: 'file delete <path>', examples: ['file delete reports/may.pdf'] },
  subject: (input) => input.path,
  example: { path: 'example/hello.txt' },
}).write({
  commit: async (context, { path, ...condition }) => {
    if (isReservedPath(path)) throw new ServiceError('PATH_RESERVED');
    refuseOtherVersion(condition, (await context.store.files.find(path)) ?? null);
    return { deleted: await deleteFile(context, path) };
  },
});
