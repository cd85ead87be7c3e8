import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';

const COLUMNS = ['size_bytes', 'updated_at', 'expires_at', 'version'];

/** `svc kv list`: with `--values`, a column for them. */
export const run = showing((answer): View => {
  const items = isObject(answer) && Array.isArray(answer['items']) ? answer['items'] : [];
  const hasValues = items.some((item) => isObject(item) && 'value' in item);
  return { columns: ['key', ...(hasValues ? ['value'] : []), ...COLUMNS] };
});
