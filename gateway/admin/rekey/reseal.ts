import { SealedDatabase, type SealedRow, type SealedRows } from '../../store/sealed-store.ts';
import { SAMPLE_PLACE } from '../../projects/open-control.ts';
import type { OwnVault } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { CONTROL_VALUES, messageHash, PROJECT_VALUES, type SealedValue } from './sealed-values.ts';

/** The old and the new key. */
export interface Vaults {
  readonly old: OwnVault;
  readonly fresh: OwnVault;
}

/** What was done in a database. */
export interface ResealCounts {
  readonly values: number;
  readonly hashes: number;
}

/** A database whose secrets are resealed. */
export interface ResealTarget {
  readonly path: string;
  /** Its name in messages. */
  readonly name: string;
  /** Null for the control database. */
  readonly projectId: string | null;
}

const NOTHING: ResealCounts = { values: 0, hashes: 0 };
const MESSAGES = 500;

/**
 * Opens every secret and changes nothing except to migrate tables of an earlier release. Throws an `AdminError` that names
 * each value that doesn't open or whose keyed hash differs.
 */
export async function checkSealed(target: ResealTarget, vaults: Vaults): Promise<void> {
  await within(target, (database) =>
    database.read(async (rows) => {
      const vault = (await isDone(rows, target, vaults)) ? vaults.fresh : vaults.old;
      for (const value of valuesOf(target)) {
        for await (const found of rows.of(value)) opened(target, value, { found, vault });
      }
    }),
  );
}

/** Seals every secret with the new key and recomputes keyed hashes, in one transaction; does nothing if that was done before. */
export async function reseal(target: ResealTarget, vaults: Vaults): Promise<ResealCounts> {
  return within(target, async (database) => {
    if (await database.read((rows) => isDone(rows, target, vaults))) return NOTHING;
    return database.write(async (rows) => {
      let { values, hashes } = await resealMessages(rows, target, vaults.fresh);
      for (const value of valuesOf(target)) {
        for await (const found of rows.of(value)) {
          // A row whose key is a hash gets a new key, so the scan may meet it again.
          if (vaults.fresh.hasSealed(found.sealed)) continue;
          hashes += await resealRow(rows, target, { value, found, vaults });
          values += 1;
        }
      }
      // From now on, a start with another key is refused.
      if (target.projectId === null) {
        await rows.meta.set('key_sample', vaults.fresh.seal(SAMPLE_PLACE, 'svc'));
      }
      return { values, hashes };
    });
  });
}

async function within<T>(
  { path, projectId }: ResealTarget,
  fn: (database: SealedDatabase) => Promise<T>,
): Promise<T> {
  const family = projectId === null ? 'control' : 'project';
  const database = await SealedDatabase.open(path, family, () => Date.now());
  try {
    return await fn(database);
  } finally {
    await database.close();
  }
}

function valuesOf({ projectId }: ResealTarget): readonly SealedValue[] {
  return projectId === null ? CONTROL_VALUES : PROJECT_VALUES;
}

/** One value is enough to check, because all change together. */
async function isDone(
  { meta }: SealedRows,
  { projectId }: ResealTarget,
  { fresh }: Vaults,
): Promise<boolean> {
  const sealed = await meta.get(projectId === null ? 'key_sample' : 'ledger_key');
  return sealed instanceof Uint8Array && fresh.hasSealed(sealed);
}

interface Opening {
  readonly found: SealedRow;
  readonly vault: OwnVault;
}

function opened(target: ResealTarget, value: SealedValue, { found, vault }: Opening): Uint8Array {
  const projectId = target.projectId ?? '';
  const { row, sealed } = found;
  const where = `${value.table} ${value.key.map((name) => String(row[name])).join(' ')} of ${target.name}`;
  if (!vault.hasSealed(sealed)) {
    throw new AdminError(
      `The ${value.column} of ${where} was sealed with neither of the two keys. Name the key that was in use until now with SVC_MASTER_KEY_FILE, or put it back into the data folder as master.key.`,
    );
  }
  let plain: Uint8Array;
  try {
    plain = vault.open(value.aad(row, projectId), sealed);
  } catch (error) {
    throw new AdminError(`The ${value.column} of ${where} is damaged: its key does not open it.`, {
      cause: error,
    });
  }
  const texts = value.signed?.(textOf(plain), row, projectId) ?? {};
  for (const [name, text] of Object.entries(texts)) {
    // A missing hash is fine, because resealing fills it in.
    if (row[name] === null || row[name] === vault.sign(text)) continue;
    throw new AdminError(`The ${name} of ${where} is damaged: it belongs to another address.`);
  }
  return plain;
}

/** Returns how many hashes it recomputed. */
async function resealRow(
  rows: SealedRows,
  target: ResealTarget,
  {
    value,
    found,
    vaults,
  }: { readonly value: SealedValue; readonly found: SealedRow; readonly vaults: Vaults },
): Promise<number> {
  const projectId = target.projectId ?? '';
  const { row } = found;
  const plain = opened(target, value, { found, vault: vaults.old });
  const signed = Object.entries(value.signed?.(textOf(plain), row, projectId) ?? {});
  await rows.replace(value, found, {
    sealed: vaults.fresh.seal(value.aad(row, projectId), plain),
    texts: Object.fromEntries(signed.map(([name, text]) => [name, vaults.fresh.sign(text)])),
  });
  return signed.length;
}

/**
 * A message's reply address is created when it's sent. Messages already sent keep theirs, because their readers have
 * it.
 */
async function resealMessages(
  { emails }: SealedRows,
  { projectId }: ResealTarget,
  fresh: OwnVault,
): Promise<ResealCounts> {
  if (projectId === null) return NOTHING;
  let hashes = 0;
  let after = '';
  for (;;) {
    const ids = await emails.unsent(after, MESSAGES);
    for (const id of ids) await emails.setTokenHash(id, messageHash(fresh, projectId, id));
    hashes += ids.length;
    const last = ids.at(-1);
    if (last === undefined) return { values: 0, hashes };
    after = last;
  }
}

function textOf(plain: Uint8Array): string {
  return Buffer.from(plain).toString('utf8');
}
