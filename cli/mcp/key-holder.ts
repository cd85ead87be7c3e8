import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { machineName } from '../signin/calls.ts';

const PROFILE_NAME_MAX = 63;
const HASH_CHARS = 6;

/** What people call the key of a client on this machine, or in one of its folders. */
export function keyLabel(lead: string, folder: string | null): string {
  const near = folder === null ? '' : ` (${basename(folder)})`;
  return `${lead} on ${machineName()}${near}`.slice(0, 100).trim();
}

/** Each installation has its own profile. Folders and names may be long, so a digest of them tells profiles apart. */
export function profileName(plain: string, name: string, folder: string | null): string {
  if (folder === null && plain.length <= PROFILE_NAME_MAX) return plain;
  const digest = createHash('sha256')
    .update(`${name}\n${folder ?? ''}`)
    .digest('hex');
  const room = PROFILE_NAME_MAX - HASH_CHARS - 1;
  return `${plain.slice(0, room)}-${digest.slice(0, HASH_CHARS)}`;
}
