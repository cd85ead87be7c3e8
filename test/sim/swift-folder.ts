import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm';

/**
 * A fresh folder that takes a sync at once, where there is one: how a disk fails is not what is looked at here, and waiting
 * for it would take most of the time.
 */
export function makeSwiftFolder(): string {
  const parent = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir();
  return mkdtempSync(join(parent, 'svc-sim-'));
}
