import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { refuseOtherVersion, type DiskCondition } from '../disk-fields.ts';
import { expiryText } from './view.ts';
import { isStateKey } from '../../rules/disk/disk-name.ts';
import { freeSpace } from '../file/quota.ts';
import { forgetVersions, keepVersion } from '../state/versions.ts';

interface Entry {
  readonly key: string;
  /** JSON text. */
  readonly text: string;
  readonly note: string | null;
  /** Unix time in milliseconds; null if the key never expires. */
  readonly expiresAt: number | null;
  readonly condition: DiskCondition;
}

export interface WriteResult {
  readonly key: string;
  readonly size_bytes: number;
  readonly expires_at: string | null;
  readonly version: number;
  readonly updated_at: string;
}

/** Writes a key and updates the disk's totals. QUOTA_EXCEEDED, PRECONDITION_FAILED. */
export async function writeKey(context: WriteContext, entry: Entry): Promise<WriteResult> {
  const { store, now, caller } = context;
  const { key, text, note, expiresAt } = entry;
  const stored = await store.kv.stored(key);
  const isThere = stored !== undefined && isAlive(stored, now);
  refuseOtherVersion(entry.condition, isThere ? stored : null);
  const size = Buffer.byteLength(text);
  const change = { keys: stored ? 0 : 1, bytes: size - (stored?.size_bytes ?? 0) };
  await freeSpace(context, { key, ...change });
  const version = await store.disk.nextVersion();
  const row = {
    key,
    size_bytes: size,
    version,
    expires_at: expiresAt,
    updated_at: isoTime(now),
    note,
    value: Buffer.from(text),
  };
  const isState = isStateKey(key);
  if (isState && stored) await keepVersion(context, stored);
  await store.kv.put(row, isState ? { keyId: caller.keyId, agent: caller.agent.label } : null);
  await store.disk.add('keys', change.keys);
  await store.disk.add('key_bytes', change.bytes);
  if (expiresAt !== null) context.emit({ kind: 'due', at: expiresAt });
  return {
    key,
    size_bytes: size,
    version,
    expires_at: expiryText(expiresAt),
    updated_at: row.updated_at,
  };
}

/** Deletes a key; returns whether it existed. PRECONDITION_FAILED. */
export async function deleteKey(
  { store, now }: WriteContext,
  key: string,
  condition: DiskCondition,
): Promise<boolean> {
  const stored = await store.kv.stored(key);
  const isThere = stored !== undefined && isAlive(stored, now);
  refuseOtherVersion(condition, isThere ? stored : null);
  if (!stored) return false;
  await store.kv.delete(key);
  if (isStateKey(key)) await forgetVersions({ store }, key);
  await store.disk.add('keys', -1);
  await store.disk.add('key_bytes', -stored.size_bytes);
  return isThere;
}

function isAlive({ expires_at }: { readonly expires_at: number | null }, now: number): boolean {
  return expires_at === null || expires_at > now;
}
