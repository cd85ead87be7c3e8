import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';

const ENDS = ['last_used_at', 'expires_at'];

/** `svc key list`: with states and makers, and with the apps and the prefixes of the disk, if one of the keys has such. */
export const run = showing(keyListView);

function keyListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  const keys = Array.isArray(items) ? items.filter(isObject) : [];
  const apps = keys.some((key) => typeof key['client'] === 'string') ? ['client'] : [];
  const limits = keys.some((key) => Array.isArray(key['disk_prefixes'])) ? ['disk_prefixes'] : [];
  return {
    columns: ['id', 'name', 'status', 'maker', ...apps, 'last4', 'scopes', ...limits, ...ENDS],
  };
}
