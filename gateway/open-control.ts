import type { Vault } from '../shared/context.ts';
import { StartRefused } from '../shared/start-refused.ts';
import { ControlStore } from '../shared/store/control-store.ts';
import type { Databases } from './databases.ts';

const SAMPLE_PLACE = 'control|key_sample';

/**
 * Opens the control database, which is made where it is not there. Throws a `StartRefused` where the secrets of a shared one
 * were sealed with another key.
 */
export async function openControl(
  databases: Databases,
  vault: Vault,
  onFatal: (error: unknown) => void,
): Promise<ControlStore> {
  await databases.makeControl();
  const control = await ControlStore.open(databases.control, onFatal);
  if (databases.shared) await refuseOtherKey(control, vault);
  return control;
}

/** With another key nothing could be read that other gateways have sealed, nor they what this one seals. */
async function refuseOtherKey(control: ControlStore, vault: Vault): Promise<void> {
  const sample = await control.keySample(vault.seal(SAMPLE_PLACE, 'svc'));
  try {
    vault.open(SAMPLE_PLACE, sample);
  } catch {
    await control.close();
    throw new StartRefused(
      'SVC_MASTER_KEY_FILE: the secrets in this store were sealed with another key. All gateways of a store have the same one: copy it from the data folder of the first.',
      'settings',
    );
  }
}
