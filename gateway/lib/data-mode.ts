import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { errorCode } from '../../shared/lib/guards.ts';

/** The owner of a data folder: the daemon of one machine, or a gateway with many clients. */
export type DataMode = 'local' | 'hosted';

const OWNERS: Readonly<Record<DataMode, string>> = {
  local: 'the daemon of this machine (`svc up`)',
  hosted: 'a gateway (`svc gateway`)',
};

/**
 * Records the folder's owner. Throws a `StartRefusal` if the other kind owns it, because a daemon and a gateway give
 * their projects to different people. Takes over a folder without a record.
 */
export function claimMode(folder: string, mode: DataMode): void {
  const file = join(folder, 'mode');
  const found = modeOf(folder);
  if (found === mode) return;
  if (found !== null) {
    throw new StartRefusal(
      `The data in ${folder} belong to ${OWNERS[found]}. Choose another folder.`,
      'settings',
    );
  }
  writeFileSync(file, `${mode}\n`, { mode: 0o600 });
}

/** Returns the folder's owner; null without a record. */
export function modeOf(folder: string): DataMode | null {
  try {
    const text = readFileSync(join(folder, 'mode'), 'utf8').trim();
    return text === 'local' || text === 'hosted' ? text : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
