import type { KeyHolder, KeyWish } from '../mcp/agent-key.ts';
import { keyLabel, profileName } from '../mcp/key-holder.ts';
import type { HookClientName } from './clients.ts';

/** What a hook's key may do. */
export const HOOK_RIGHTS: KeyWish = { scopes: ['approvals'], diskPrefixes: null, readOnly: false };

/** Whose key it is: of the hook in one folder, or of the user's. */
export function hookHolder(clientName: HookClientName, folder: string | null): KeyHolder {
  return {
    profile: profileName(`hook-${clientName}`, clientName, folder),
    label: keyLabel(`hook: ${clientName}`, folder),
  };
}
