import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm';

/**
 * A fresh folder in memory, if possible: this test isn't about disks, and waiting for syncs would take most of its time.
 */
export function makeSwiftFolder(): string {
  const parent = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir();
  return mkdtempSync(join(parent, 'svc-sim-'));
}
