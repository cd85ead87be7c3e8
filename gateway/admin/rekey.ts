import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectsIn, type ProjectRecord } from '../../shared/store/control-store.ts';
import { syncFile, writeThenMove } from '../blobs/blob-files.ts';
import { modeOf } from '../data-mode.ts';
import { readRekeyMark, removeRekeyMark, writeRekeyMark, type RekeyMark } from '../rekey-mark.ts';
import { claimWhosever } from '../server/data-folder.ts';
import { createVault, keyText, loadMasterKey } from '../vault.ts';
import { AdminError } from './admin-error.ts';
import { databaseFile } from './copies.ts';
import { existingKey, fingerprintOf } from './master-key.ts';
import { checkSealed, reseal, type ResealTarget, type Vaults } from './reseal.ts';
import { keyFileOf, type AdminSettings } from './settings.ts';

/** Where a crash has consequences of its own. */
type RekeyPoint =
  | 'checked'
  | 'marked'
  | 'database done'
  | 'old key kept'
  | 'key in place'
  | 'unmarked';

export interface RekeyOptions {
  readonly settings: AdminSettings;
  /** The file of the new key, which is made where it is not there. */
  readonly newKeyFile: string;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** For tests, which end the process there. */
  readonly at?: (point: RekeyPoint) => void;
}

/** What was done. Keys are named by their fingerprints. */
export interface Rekeyed {
  readonly from: string;
  readonly to: string;
  readonly projects: number;
  readonly values: number;
  readonly hashes: number;
  /** The file that the next start has to be told of; null where the new key is in its place in the data folder. */
  readonly nameKeyFile: string | null;
  /** Where the key of before was put; null where it stays in its own file. */
  readonly oldKeyFile: string | null;
}

/** It was interrupted between two databases: some have one key, and some the other. */
export class RekeyInterrupted extends AdminError {}

interface Rekeying {
  readonly options: RekeyOptions;
  readonly dataFolder: string;
  /** Of the key in use. */
  readonly keyFile: string;
  /** Absolute. */
  readonly newKeyFile: string;
  /** The key is in the data folder, where nobody but us has to be told of another one. */
  readonly isOwnKey: boolean;
}

/**
 * Seals all secrets of a data folder that nobody uses with another master key. Each database changes in one transaction; until
 * the last has changed and the key is in its place, a mark keeps a gateway from starting, both keys are there, and whoever
 * repeats it goes on. Throws an `AdminError`; nothing has changed then, unless it says so.
 */
export async function rekey(options: RekeyOptions): Promise<Rekeyed> {
  const { settings } = options;
  const { dataFolder } = settings;
  if (settings.databases.shared) {
    throw new AdminError(
      'SVC_DATABASE_URL is set: the master key of databases on a server cannot be changed yet. Export each project, and import it into a gateway over files.',
    );
  }
  if (!existsSync(join(dataFolder, 'control.db'))) {
    throw new AdminError(
      `${dataFolder} holds no data of a gateway. Name its folder by --data or SVC_DATA.`,
    );
  }
  const lock = claimWhosever(dataFolder);
  try {
    // A local daemon looks for its key nowhere else.
    const ownKey = join(dataFolder, 'master.key');
    const keyFile = modeOf(dataFolder) === 'local' ? ownKey : keyFileOf(settings);
    const newKeyFile = resolve(options.newKeyFile);
    const isOwnKey = keyFile === ownKey;
    return await rekeyFolder({ options, dataFolder, keyFile, newKeyFile, isOwnKey });
  } finally {
    lock.release();
  }
}

async function rekeyFolder(rekeying: Rekeying): Promise<Rekeyed> {
  const { options, dataFolder, isOwnKey, newKeyFile } = rekeying;
  const at = options.at ?? (() => undefined);
  const { vaults, mark, isBegun } = keysOf(rekeying);
  const targets = await targetsIn(dataFolder);
  // What cannot be opened is found before anything has changed.
  for (const target of targets) {
    options.signal.throwIfAborted();
    await checkSealed(target, vaults);
  }
  at('checked');
  // Whoever has made the file may not have waited for the disk, and soon nothing opens without it.
  await syncFile(newKeyFile);
  await syncFile(dirname(newKeyFile));
  if (!isBegun) await writeRekeyMark(dataFolder, mark);
  at('marked');
  const counts = await resealAll(rekeying, { targets, vaults, at });
  const oldKeyFile = isOwnKey ? await putKeyInPlace(rekeying, { mark, at }) : null;
  await removeRekeyMark(dataFolder);
  at('unmarked');
  return {
    from: mark.from,
    to: mark.to,
    projects: targets.length - 1,
    ...counts,
    nameKeyFile: isOwnKey ? null : newKeyFile,
    oldKeyFile,
  };
}

interface Keys {
  readonly vaults: Vaults;
  readonly mark: RekeyMark;
  /** An earlier run has written the mark. */
  readonly isBegun: boolean;
}

function keysOf({ dataFolder, keyFile, newKeyFile }: Rekeying): Keys {
  const begun = readRekeyMark(dataFolder);
  const old = existingKey(keyFile);
  const from = fingerprintOf(old);
  if (begun && !existsSync(newKeyFile)) throw otherKeys(dataFolder, begun);
  const fresh = loadMasterKey(newKeyFile, '--new-key');
  const to = fingerprintOf(fresh);
  const vaults = { old: createVault(old), fresh: createVault(fresh) };
  if (begun) {
    // It may have been cut short when the new key was in its place already.
    const isSame = to === begun.to && (from === begun.from || from === begun.to);
    if (!isSame) throw otherKeys(dataFolder, begun);
    return { vaults, mark: begun, isBegun: true };
  }
  if (from === to) {
    throw new AdminError(
      `${newKeyFile} holds the master key that ${dataFolder} has already. Name a file that is not there, and a new key is made.`,
    );
  }
  return { vaults, mark: { from, to, newKeyFile }, isBegun: false };
}

function otherKeys(dataFolder: string, { from, to, newKeyFile }: RekeyMark): AdminError {
  return new AdminError(
    `A change from the master key ${from} to ${to} has begun in ${dataFolder}, and other keys are named now. Go on with: --new-key ${newKeyFile}, and the key of before where it was.`,
  );
}

/** The databases, the control database last: a key that is named too early is refused by it. */
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

/** One whose making was cut short has nothing yet, and one that has moved may have nothing any more. */
function refuseLost({ id, slug, state }: ProjectRecord): void {
  if (state === 'reserved' || state === 'moved') return;
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
    if (signal.aborted) {
      throw new RekeyInterrupted(
        'interrupted between two databases. No gateway starts on the data until the same command has come to its end.',
      );
    }
    const { values, hashes } = await reseal(target, vaults);
    counts.values += values;
    counts.hashes += hashes;
    at('database done');
    if (target.projectId !== null) onProgress(index + 1, projects);
  }
  return counts;
}

/** The key of before is kept, as backups need it. Answers where; there is a key in place at every moment. */
async function putKeyInPlace(
  { keyFile, newKeyFile }: Rekeying,
  { mark, at }: { readonly mark: RekeyMark; readonly at: Stage['at'] },
): Promise<string> {
  const kept = `${keyFile}.${mark.from}`;
  const inPlace = existingKey(keyFile);
  if (fingerprintOf(inPlace) === mark.to) return kept;
  await writeKey(kept, inPlace);
  at('old key kept');
  await writeKey(keyFile, existingKey(newKeyFile));
  at('key in place');
  return kept;
}

/** Whole and durable, in the place of whatever was there. */
async function writeKey(path: string, key: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  await writeThenMove(temporary, path, Buffer.from(keyText(key)));
}
