import { showing } from '../../operation-command.ts';

const ENDS = ['last_used_at', 'expires_at'];

/** `svc key list`: with states and makers, and with the apps and the prefixes of the disk, if one of the keys has such. */
export const run = showing<'key_list'>(({ items: keys }) => {
  const apps = keys.some(({ client }) => client) ? ['client'] : [];
  const limits = keys.some((key) => key.disk_prefixes) ? ['disk_prefixes'] : [];
  return {
    columns: ['id', 'name', 'status', 'maker', ...apps, 'last4', 'scopes', ...limits, ...ENDS],
  };
});
