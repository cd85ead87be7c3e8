import type { Vault } from '../../shared/kernel/context.ts';
import { StartRefused } from '../../shared/host/start-refused.ts';
import { ControlStore } from '../store/control-store.ts';
import type { Databases } from './databases.ts';

/** The `aad` of the sealed sample that shows whether the key is the right one. */
export const SAMPLE_PLACE = 'control|key_sample';

/**
 * Opens the control database and creates it if it's missing. Throws a `StartRefused` if its secrets were sealed with
 * another key: for a shared database from the first start on, for others once their key was changed.
 */
export async function openControl(
  databases: Databases,
  vault: Vault,
  onFatal: (error: unknown) => void,
): Promise<ControlStore> {
  await databases.makeControl();
  const control = await ControlStore.open(databases.control, onFatal);
  const sample = databases.shared
    ? await control.keySample(vault.seal(SAMPLE_PLACE, 'svc'))
    : await control.storedSample();
  if (sample === null || opens(vault, sample)) return control;
  await control.close();
  throw new StartRefused(
    databases.shared
      ? "SVC_MASTER_KEY_FILE: the secrets in this store were sealed with another key. All gateways of a store need the same key: copy it from the first gateway's data folder."
      : 'SVC_MASTER_KEY_FILE: the secrets in this folder were sealed with another key. After `svc gateway rekey`, use the key file that --new-key named.',
    'settings',
  );
}

/** Another key couldn't open what is already sealed, and rows found by a keyed hash would be stored twice. */
function opens(vault: Vault, sample: Uint8Array): boolean {
  try {
    vault.open(SAMPLE_PLACE, sample);
    return true;
  } catch {
    return false;
  }
}
