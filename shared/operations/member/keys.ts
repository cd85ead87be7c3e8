import type { ApprovalContext } from '../../kernel/context.ts';
import { withinRole, type Role } from '../../rules/roles.ts';
import { endKeyAlone } from '../access/end.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';

/** Takes from those keys what the role may not have; revokes a key with nothing left. */
export async function narrowKeys(
  context: ApprovalContext,
  member: MemberRow,
  role: Role,
): Promise<void> {
  const { store, emit, record } = context;
  for (const { id, scopes } of await store.keys.madeBy(makersOf(member))) {
    const left = withinRole(scopes, role);
    if (left.length === 0) {
      await endKeyAlone(context, id);
      await record('key.revoked', id);
    } else if (left.join() !== scopes.join()) {
      await store.keys.setScopes(id, left);
      await record('key.narrowed', id, { scopes: left });
      emit({ kind: 'keys_changed' });
    }
  }
}

/** What `created_by` of what they made names. */
export function makersOf({ id, account_id, channel_id }: MemberRow): string[] {
  return [id, account_id, channel_id].filter((one) => one !== null);
}
