import * as z from 'zod';
import { ServiceError } from '../../errors.ts';
import { defineOperation } from '../../operation.ts';
import { isReservedPath } from '../../rules/disk-name.ts';
import { filePath } from '../disk-fields.ts';
import { deleteFile } from './save.ts';

export const fileDelete = defineOperation({
  name: 'file_delete',
  summary: 'Delete a file and end its links.',
  description:
    'Answers whether it was there. Its room is free at once; the bytes are erased within minutes. Open uploads to the path are dropped.',
  scope: 'disk',
  input: z.strictObject({ path: filePath }),
  output: z.object({ deleted: z.boolean() }),
  errors: ['PATH_RESERVED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/files/{path+}' },
  mcp: { title: 'Delete a file', destructive: true, idempotent: true },
  cli: { usage: 'file delete <path>', examples: ['file delete reports/may.pdf'] },
  subject: (input) => input.path,
  example: { path: 'example/hello.txt' },
}).write({
  commit: async (context, { path }) => {
    if (isReservedPath(path)) throw new ServiceError('PATH_RESERVED');
    return { deleted: await deleteFile(context, path) };
  },
});
