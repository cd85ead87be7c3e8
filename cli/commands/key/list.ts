import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';

const ENDS = ['last_used_at', 'expires_at', 'revoked_at'];

/** `svc key list`: with the prefixes of the disk, if one of the keys is limited. */
export const run = showing(keyListView);

function keyListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  const keys = Array.isArray(items) ? items.filter(isObject) : [];
  if (!keys.some((key) => Array.isArray(key['disk_prefixes']))) return {};
  return { columns: ['id', 'name', 'last4', 'scopes', 'disk_prefixes', ...ENDS] };
}
