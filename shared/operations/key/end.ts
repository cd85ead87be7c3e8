import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';

/** Ends a key, its waits, and the file links that it made. */
export async function endKey(
  { store, emit, now }: Pick<WriteContext, 'store' | 'emit' | 'now'>,
  keyId: string,
): Promise<void> {
  await store.keys.revoke(keyId, isoTime(now));
  await store.fileLinks.revokeKey(keyId);
  emit({ kind: 'key_ended', keyId });
}
