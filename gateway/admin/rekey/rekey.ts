import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectsIn, type ProjectRecord } from '../../store/control-store.ts';
import { modeOf } from '../../lib/data-mode.ts';
import {
  readRekeyMark,
  removeRekeyMark,
  writeRekeyMark,
  type RekeyMark,
} from '../../lib/rekey-mark.ts';
import { claimAnyMode } from '../../lib/data-folder.ts';
import { createVault, loadMasterKey } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { databaseFile } from '../backup/copies.ts';
import { existingKey, fingerprintOf } from '../master-key.ts';
import {
  begunKey,
  dropSpare,
  keepSpare,
  putKeyInPlace,
  type KeyFiles,
  type KeysNow,
} from './rekey-keys.ts';
import { checkSealed, reseal, type ResealTarget, type Vaults } from './reseal.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

/** The steps between which a crash needs different handling. */
type RekeyPoint =
  | 'checked'
  | 'new key kept'
  | 'marked'
  | 'database done'
  | 'old key kept'
  | 'key in place'
  | 'spare dropped'
  | 'unmarked';

export interface RekeyOptions {
  readonly settings: AdminSettings;
  /** The new key's file; created if it's missing. */
  readonly newKeyFile: string;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** For tests, which kill the process at a step. */
  readonly at?: (point: RekeyPoint) => void;
}

/** What was done. Keys appear as fingerprints. */
export interface RekeyResult extends KeysNow {
  readonly from: string;
  readonly to: string;
  readonly projects: number;
  readonly values: number;
  readonly hashes: number;
}

/** The error says what the interruption left. */
export class InterruptedRekeyError extends AdminError {}

interface Rekeying extends KeyFiles {
  readonly options: RekeyOptions;
}

/**
 * Seals all secrets of an unused data folder with another master key. Each database changes in one transaction. Until the
 * last one has changed and the key is in place, a mark keeps gateways from starting, both keys exist, and a repeat
 * continues the change. Throws an `AdminError`; then nothing has changed unless it says so.
 */
export async function rekey(options: RekeyOptions): Promise<RekeyResult> {
  const { settings } = options;
  const { dataFolder } = settings;
  if (settings.databases.onServer) {
    throw new AdminError(
      'SVC_DATABASE_URL is set: the master key of databases on a server cannot be changed yet. Export each project, and import it into a gateway over files.',
    );
  }
  if (!existsSync(join(dataFolder, 'control.db'))) {
    throw new AdminError(
      `${dataFolder} holds no gateway data. Name the data folder with --data or SVC_DATA.`,
    );
  }
  const lock = claimAnyMode(dataFolder);
  try {
    // A local daemon looks for its key only here.
    const ownKey = join(dataFolder, 'master.key');
    const keyFile = modeOf(dataFolder) === 'local' ? ownKey : keyFileOf(settings);
    const newKeyFile = resolve(options.newKeyFile);
    const isOwnKey = keyFile === ownKey;
    return await rekeyFolder({ options, dataFolder, keyFile, newKeyFile, isOwnKey });
  } finally {
    lock.release();
  }
}

async function rekeyFolder(rekeying: Rekeying): Promise<RekeyResult> {
  const { options, dataFolder, isOwnKey } = rekeying;
  const at = options.at ?? (() => undefined);
  const { fresh, vaults, mark, isBegun } = keysOf(rekeying);
  const targets = await targetsIn(dataFolder);
  // Find values that can't be opened before changing anything.
  for (const target of targets) {
    if (options.signal.aborted) throw isBegun ? halfDone() : notBegun(mark);
    await checkSealed(target, vaults);
  }
  at('checked');
  await keepSpare(rekeying, mark, fresh);
  at('new key kept');
  if (!isBegun) await writeRekeyMark(dataFolder, mark);
  at('marked');
  const counts = await resealAll(rekeying, { targets, vaults, at });
  const oldKeyFile = isOwnKey ? await putKeyInPlace(rekeying, { mark, fresh }, at) : null;
  const keys = await dropSpare(rekeying, mark, oldKeyFile);
  at('spare dropped');
  await removeRekeyMark(dataFolder);
  at('unmarked');
  return { from: mark.from, to: mark.to, projects: targets.length - 1, ...counts, ...keys };
}

function halfDone(): InterruptedRekeyError {
  return new InterruptedRekeyError(
    'interrupted between two databases. No gateway can start on the data until you run the same command to its end.',
  );
}

function notBegun({ newKeyFile }: RekeyMark): InterruptedRekeyError {
  return new InterruptedRekeyError(
    `interrupted before any secret was resealed. The new key stays in ${newKeyFile}. Run the same command to continue.`,
  );
}

interface Keys {
  readonly fresh: Uint8Array;
  readonly vaults: Vaults;
  readonly mark: RekeyMark;
  /** An earlier run wrote the mark. */
  readonly isBegun: boolean;
}

function keysOf(rekeying: Rekeying): Keys {
  const { dataFolder, keyFile, newKeyFile } = rekeying;
  const begun = readRekeyMark(dataFolder);
  const old = existingKey(keyFile);
  const from = fingerprintOf(old);
  if (begun) {
    const fresh = begunKey(rekeying, begun);
    // It may have been interrupted after the new key was in place.
    const isOld = from === begun.from || from === begun.to;
    if (!fresh || fingerprintOf(fresh) !== begun.to || !isOld) throw otherKeys(dataFolder, begun);
    return { fresh, vaults: vaultsOf(old, fresh), mark: begun, isBegun: true };
  }
  const fresh = loadMasterKey(newKeyFile, '--new-key');
  const to = fingerprintOf(fresh);
  if (from === to) {
    throw new AdminError(
      `${newKeyFile} already holds the current master key of ${dataFolder}. Name a file that doesn't exist, and a new key is created.`,
    );
  }
  return { fresh, vaults: vaultsOf(old, fresh), mark: { from, to, newKeyFile }, isBegun: false };
}

function vaultsOf(old: Uint8Array, fresh: Uint8Array): Vaults {
  return { old: createVault(old), fresh: createVault(fresh) };
}

function otherKeys(dataFolder: string, { from, to, newKeyFile }: RekeyMark): AdminError {
  return new AdminError(
    `A change from the master key ${from} to ${to} has begun in ${dataFolder}, but you named other keys now. Continue with --new-key ${newKeyFile}, and with the old key where it was.`,
  );
}

/** The databases, the control database last, because it refuses a key that is used too early. */
async function targetsIn(dataFolder: string): Promise<ResealTarget[]> {
  const control = join(dataFolder, 'control.db');
  const targets: ResealTarget[] = [];
  for (const record of await projectsIn(control)) {
    const path = join(dataFolder, databaseFile(record.id));
    if (existsSync(path)) {
      targets.push({ path, name: `project ${record.slug}`, projectId: record.id });
    } else refuseLost(record);
  }
  return [...targets, { path: control, name: 'the control database', projectId: null }];
}

/** A project whose creation was interrupted has no data yet; one that has moved or is being deleted may have none left. */
function refuseLost({ id, slug, state }: ProjectRecord): void {
  if (state === 'reserved' || state === 'moved' || state === 'deleting') return;
  throw new AdminError(`The database of project ${slug} (${id}) is missing.`);
}

interface Stage {
  readonly targets: readonly ResealTarget[];
  readonly vaults: Vaults;
  readonly at: (point: RekeyPoint) => void;
}

async function resealAll(
  { options: { signal, onProgress } }: Rekeying,
  { targets, vaults, at }: Stage,
): Promise<{ readonly values: number; readonly hashes: number }> {
  const counts = { values: 0, hashes: 0 };
  const projects = targets.length - 1;
  onProgress(0, projects);
  for (const [index, target] of targets.entries()) {
    if (signal.aborted) throw halfDone();
    const { values, hashes } = await reseal(target, vaults);
    counts.values += values;
    counts.hashes += hashes;
    at('database done');
    if (target.projectId !== null) onProgress(index + 1, projects);
  }
  return counts;
}
