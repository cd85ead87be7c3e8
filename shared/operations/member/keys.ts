import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { withinRole, type Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/members.ts';

/** Revokes a member's keys, and those that their keys and sessions made; returns their ids. */
export async function endKeys(context: ApprovalContext, member: MemberRow): Promise<string[]> {
  const keys = await context.store.keys.madeBy(makersOf(member));
  for (const { id } of keys) await endKey(context, id);
  return keys.map(({ id }) => id);
}

/** Takes from those keys what the role may not have; revokes a key with nothing left. */
export async function narrowKeys(
  context: ApprovalContext,
  member: MemberRow,
  role: Role,
): Promise<void> {
  const { store, emit, record } = context;
  for (const { id, scopes } of await store.keys.madeBy(makersOf(member))) {
    const left = withinRole(scopes, role);
    if (left.length === 0) await endKey(context, id);
    else if (left.join() !== scopes.join()) {
      await store.keys.setScopes(id, left);
      await record('key.narrowed', id, { scopes: left });
      emit({ kind: 'keys_changed' });
    }
  }
}

async function endKey({ store, now, emit, record }: ApprovalContext, id: string) {
  await store.keys.revoke(id, isoTime(now));
  await store.fileLinks.revokeKey(id);
  await record('key.revoked', id);
  emit({ kind: 'key_ended', keyId: id });
}

/** What `created_by` of their keys names. */
function makersOf({ id, account_id, channel_id }: MemberRow): string[] {
  return [id, account_id, channel_id].filter((one) => one !== null);
}
