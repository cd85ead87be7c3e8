import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../shared/lib/guards.ts';
import { makePrivateFolder } from './files.ts';
import { isAlive } from '../shared/host/processes.ts';

/** A change takes milliseconds; who still waits then waits for one that hangs. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 5;

/**
 * Does short work on a file while no other process does any: what is read is still true when it is written. The lock is a
 * link beside the file that names its holder, so that one left by a process that was killed is told from one that is held.
 * Throws when it is not free within five seconds.
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

/** A link comes into being together with what it says, as a file with a text does not. */
function take(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Under a lock of its own: two that find the same stale one must not both remove it, the second one a fresh one. */
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

/** Whoever was killed in the moment of removing a stale lock must not keep everybody out for good. */
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
