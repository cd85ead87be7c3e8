import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../shared/lib/guards.ts';
import { makePrivateFolder } from './files.ts';
import { isAlive } from '../shared/host/processes.ts';

/** A change takes milliseconds: a holder that takes longer than this hangs. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 5;

/**
 * Does short work on a file while no other process works on it, so a read value is still true at the write. The lock is
 * a link next to the file that names its holder, which lets others recognize a lock left by a killed process. Throws
 * if the lock isn't free within five seconds.
 */
export function whileLocked<T>(path: string, work: () => T): T {
  const lock = `${path}.lock`;
  makePrivateFolder(dirname(path));
  const deadline = performance.now() + PATIENCE_MS;
  while (!take(lock)) {
    removeStale(lock);
    if (performance.now() > deadline) {
      throw new Error(`${path} is in use by process ${holderOf(lock) ?? '?'}. Try again.`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The system creates a link together with its text; a file would exist for a moment without its text. */
function take(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A second lock guards this: if two processes found the same stale lock, the later one could remove a fresh lock. */
function removeStale(lock: string): void {
  const guard = `${lock}.stale`;
  const holder = holderOf(lock);
  if (holder === null || isAlive(holder)) return;
  if (!take(guard)) return removeDead(guard);
  try {
    if (holderOf(lock) === holder) rmSync(lock, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/** A process that's killed while it removes a stale lock must not block all others forever. */
function removeDead(guard: string): void {
  const holder = holderOf(guard);
  if (holder !== null && !isAlive(holder)) rmSync(guard, { force: true });
}

function holderOf(lock: string): number | null {
  try {
    return Number(readlinkSync(lock));
  } catch {
    return null;
  }
}
