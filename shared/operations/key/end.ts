import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { KeyRecord } from '../../store/keys.ts';

type Context = Pick<ApprovalContext, 'store' | 'emit' | 'now' | 'record'>;

/** Ends a key, its waits, and the file links that it made. With an app's key end the keys that it made. */
export async function endKey(context: Context, key: KeyRecord): Promise<void> {
  await end(context, key.id);
  if (key.client === null) return;
  for (const { id } of await context.store.keys.madeBy([key.id])) {
    await end(context, id);
    await context.record('key.revoked', id);
  }
}

async function end({ store, emit, now }: Context, keyId: string): Promise<void> {
  await store.keys.revoke(keyId, isoTime(now));
  await store.fileLinks.revokeKey(keyId);
  emit({ kind: 'key_ended', keyId });
}
