import { showing } from '../../call/operation-command.ts';

const ENDS = ['last_used_at', 'expires_at'];

/** `svc key list`: with states and makers, plus apps and disk prefixes if any key has them. */
export const run = showing<'key_list'>(({ items: keys }) => {
  const apps = keys.some(({ client }) => client) ? ['client'] : [];
  const limits = keys.some((key) => key.disk_prefixes) ? ['disk_prefixes'] : [];
  return {
    columns: ['id', 'name', 'status', 'maker', ...apps, 'last4', 'scopes', ...limits, ...ENDS],
  };
});
