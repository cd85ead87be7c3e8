import { KV_KEY_MAX_BYTES } from '../../lib/limits.ts';
import { keyProblem, STATE_PREFIX } from '../../rules/disk/disk-name.ts';
import { diskName } from '../disk-fields.ts';

/** A task's id; the key is `state/` plus the id. */
export const taskId = diskName(KV_KEY_MAX_BYTES, (id) => keyProblem(STATE_PREFIX + id)).describe(
  'The task; up to 512 bytes including the prefix `state/`.',
);

export function stateKey(id: string): string {
  return STATE_PREFIX + id;
}
