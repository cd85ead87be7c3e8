import type { WriteContext } from '../../kernel/context.ts';
import {
  STATE_VERSION_MS,
  STATE_VERSIONS_MAX,
  STATE_VERSIONS_MAX_BYTES,
} from '../../lib/limits.ts';
import type { KeptVersion } from '../../store/tables/disk/state-versions.ts';

type Keeping = Pick<WriteContext, 'store' | 'now'>;

/** How many versions to drop at a time when a project keeps too many bytes of them. */
const PORTION = 50;

/** Versions that were replaced at this time or before count as gone. */
export function goneSince(now: number): number {
  return now - STATE_VERSION_MS;
}

/** Keeps a task's state before it is replaced, and drops what is then too much. */
export async function keepVersion(
  { store, now }: Keeping,
  stored: { readonly key: string; readonly size_bytes: number },
): Promise<void> {
  const { key, size_bytes } = stored;
  await store.stateVersions.keep(key, now);
  await store.disk.add('history_bytes', size_bytes);
  await dropVersions({ store }, await store.stateVersions.surplus(key, STATE_VERSIONS_MAX));
  while ((await store.disk.historyBytes()) > STATE_VERSIONS_MAX_BYTES) {
    let over = (await store.disk.historyBytes()) - STATE_VERSIONS_MAX_BYTES;
    const oldest = await store.stateVersions.oldest(PORTION);
    const dropped = oldest.filter((one) => over > 0 && ((over -= one.size_bytes), true));
    await dropVersions({ store }, dropped);
  }
}

/** Forgets a deleted task's versions. */
export async function forgetVersions(
  { store }: Pick<Keeping, 'store'>,
  key: string,
): Promise<void> {
  await dropVersions({ store }, await store.stateVersions.surplus(key, 0));
}

/** Drops at most `limit` versions that are too old; returns how many. */
export async function dropOldVersions({ store, now }: Keeping, limit: number): Promise<number> {
  const old = await store.stateVersions.replacedBy(goneSince(now), limit);
  await dropVersions({ store }, old);
  return old.length;
}

async function dropVersions(
  { store }: Pick<Keeping, 'store'>,
  versions: readonly KeptVersion[],
): Promise<void> {
  for (const { version } of versions) await store.stateVersions.delete(version);
  const bytes = versions.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  await store.disk.add('history_bytes', -bytes);
}
