import { showing } from '../../call/operation-command.ts';

const COLUMNS = ['size_bytes', 'updated_at', 'expires_at', 'version'];

/** `svc kv list`: with `--values`, a column for them. */
export const run = showing<'kv_list'>(({ items }) => {
  const hasValues = items.some((item) => 'value' in item);
  return { columns: ['key', ...(hasValues ? ['value'] : []), ...COLUMNS] };
});
