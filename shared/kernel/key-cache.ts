import { VersionedCache } from '../lib/versioned-cache.ts';
import type { FoundKey } from '../store/tables/access/keys.ts';

/** A project has at most twenty active keys, and few were revoked or rotated since the last change. */
const KEYS_MAX = 200;

/** Keys by their hash, without the time they were last used. */
export class KeyCache extends VersionedCache<FoundKey> {
  constructor({ remembers = true } = {}) {
    super({ remembers, max: KEYS_MAX });
  }
}
