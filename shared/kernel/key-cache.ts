import { VersionedCache } from '../lib/versioned-cache.ts';
import type { FoundKey } from '../store/keys.ts';

/** A project has twenty active keys; those revoked and rotated since the last change are few. */
const KEYS_MAX = 200;

/** Keys by their hash. When one was last used is not told here. */
export class KeyCache extends VersionedCache<FoundKey> {
  constructor({ remembers = true } = {}) {
    super({ remembers, max: KEYS_MAX });
  }
}
