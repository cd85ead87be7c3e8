import { join } from 'node:path';
import { keySampleIn } from '../../store/control-store.ts';
import { readRekeyMark, refuseHalfRekeyed } from '../../lib/rekey-mark.ts';
import { AdminError } from '../admin-error.ts';

/**
 * Starts watching the master key of a data folder that is being copied. Returns a function that throws an `AdminError` if
 * a key change has begun since, even if it has ended: the copy may have secrets of both keys. Throws a `StartRefusal` if a
 * change is half done.
 */
export async function watchKey(dataFolder: string): Promise<() => Promise<void>> {
  const control = join(dataFolder, 'control.db');
  // A change writes its mark first and replaces the sample before it removes the mark, so check both.
  const before = await sampleIn(control);
  refuseHalfRekeyed(dataFolder);
  return async () => {
    const isMarked = readRekeyMark(dataFolder) !== null;
    if (!isMarked && isSame(before, await sampleIn(control))) return;
    throw new AdminError(
      `The master key of ${dataFolder} changed during the copy. The copy may hold secrets of both keys, so it was removed. Try again once svc gateway rekey has finished.`,
    );
  };
}

/** Null as well if the control database is too damaged to be read: then the copy goes without it. */
async function sampleIn(control: string): Promise<Uint8Array | null> {
  return keySampleIn(control).catch(() => null);
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return Buffer.compare(one, other) === 0;
}
