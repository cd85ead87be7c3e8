import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Vault } from '../../shared/kernel/context.ts';
import { DamagedDatabase, StartRefusal } from '../../shared/host/start-refusal.ts';
import type { DatabaseLocation } from '../../shared/store/engine/location.ts';
import { hasTables } from '../../shared/store/engine/open.ts';
import type { FileDamage } from '../../shared/store/sums/sum-keeper.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { ControlStore } from '../store/control-store.ts';
import type { Databases } from '../store/databases.ts';

/** The mark in the folder of a project that is in place but unknown to the gateway. */
export const IMPORT_MARK = 'importing';

/** The `aad` of the sealed sample that shows whether the key is the right one. */
export const SAMPLE_PLACE = 'control|key_sample';

/**
 * Opens the control database and creates it if it's missing. Throws a `StartRefusal` if its secrets were sealed with
 * another key: for a shared database from the first start on, for others once their key was changed.
 */
export async function openControl(
  databases: Databases,
  vault: Vault,
  onFatal: (error: unknown) => void,
  onDamage?: (damage: FileDamage) => void,
): Promise<ControlStore> {
  const control = await reach(databases, onFatal, onDamage);
  const sample = databases.onServer
    ? await control.keySample(vault.seal(SAMPLE_PLACE, 'svc'))
    : await control.storedSample();
  if (sample === null || opens(vault, sample)) return control;
  await control.close();
  throw new StartRefusal(
    databases.onServer
      ? "SVC_MASTER_KEY_FILE: the secrets in this store were sealed with another key. All gateways of a store need the same key: copy it from the first gateway's data folder."
      : 'SVC_MASTER_KEY_FILE: the secrets in this folder were sealed with another key. After `svc gateway rekey`, use the key file that --new-key named.',
    'settings',
  );
}

async function reach(
  databases: Databases,
  onFatal: (error: unknown) => void,
  onDamage?: (damage: FileDamage) => void,
): Promise<ControlStore> {
  refuseLost(databases.control);
  try {
    await databases.makeControl();
    return await ControlStore.open(databases.control, onFatal, onDamage);
  } catch (error) {
    const isRefused = error instanceof ServiceError && databases.onServer;
    if (!isRefused) throw error;
    const cause = rootOf(error.cause);
    throw new StartRefusal(
      `SVC_DATABASE_URL: the gateway can't use the database server at ${databases.serverHost}.`,
      'settings',
      [cause instanceof Error ? cause.message : String(cause)],
    );
  }
}

/** A new one would know none of the projects. */
function refuseLost(control: DatabaseLocation): void {
  if (control.kind === 'remote' || hasTables(control.path)) return;
  const projects = join(dirname(control.path), 'projects');
  // A project whose import was interrupted doesn't count yet.
  const isOne = (name: string): boolean =>
    existsSync(join(projects, name, 'project.db')) &&
    !existsSync(join(projects, name, IMPORT_MARK));
  if (existsSync(projects) && readdirSync(projects).some(isOne)) {
    throw new DamagedDatabase(control.path, "it's missing or empty, and there are projects");
  }
}

/** The innermost error: a failed request hides the reason behind "fetch failed". */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
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
