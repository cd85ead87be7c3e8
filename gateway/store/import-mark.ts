import type { Reader, Tx } from '../../shared/store/engine/driver.ts';
import { CopyError } from '../../shared/store/copy/table-copy.ts';
import { POSITION_QUERY } from '../../shared/store/tables/meta.ts';

/** The content of an import's target database. */
export type ImportState =
  /** No data. */
  | { readonly kind: 'empty' }
  /** Part of a project: an import is running or was interrupted. */
  | { readonly kind: 'part' }
  /** A complete, checked project that the control database may not know yet. */
  | { readonly kind: 'whole'; readonly origin: string }
  | { readonly kind: 'used' };

const MARK_QUERY = "SELECT value FROM meta WHERE name = 'import'";
const SET_MARK =
  "INSERT INTO meta (name, value) VALUES ('import', ?) ON CONFLICT DO UPDATE SET value = excluded.value";
const NOBODY = "name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*'";

/** Inspects the database without a change, because it may belong to somebody else. */
export function findImport(reader: Reader): Promise<ImportState> {
  return reader.read(async (tx): Promise<ImportState> => {
    const anything = await tx.get(`SELECT 1 AS found FROM sqlite_schema WHERE ${NOBODY} LIMIT 1`);
    if (!anything) return { kind: 'empty' };
    // Our migrations didn't create these tables.
    const version = await tx.get('PRAGMA user_version');
    if (Number(version?.['user_version']) === 0) return { kind: 'used' };
    const [kind, value = ''] = (await markOf(tx)).split(' ');
    if (kind === 'part') return { kind };
    if (kind === 'whole') return { kind, origin: value };
    const position = Number((await tx.get(POSITION_QUERY))?.['value']);
    return { kind: position === 0 ? 'empty' : 'used' };
  });
}

/**
 * A mark in the target database until the control database knows the project. It distinguishes leftovers of an import
 * from data in use, and stops all but the newest of several imports.
 */
export class ImportMark {
  readonly #part: string;

  /** `token`: a random name for this import. */
  constructor(token: string) {
    this.#part = `part ${token}`;
  }

  async begin(tx: Tx): Promise<void> {
    await tx.put(SET_MARK, [this.#part]);
  }

  /** Throws a `CopyError` if another import has started since. */
  async check(tx: Tx): Promise<void> {
    if ((await markOf(tx)) === this.#part) return;
    throw new CopyError('Another import of this project has begun since. This one ends.');
  }

  /** Marks the import as complete: nothing deletes it from now on. `origin` names the imported data in one word. */
  async finish(tx: Tx, origin: string): Promise<void> {
    await this.check(tx);
    await tx.put(SET_MARK, [`whole ${origin}`]);
    // Keep the original's position: this commit increments it again.
    await tx.put("UPDATE meta SET value = value - 1 WHERE name = 'commit_seq'");
  }
}

/** Removes the mark after the control database knows the project. */
export async function endImport(tx: Tx): Promise<void> {
  await tx.put("DELETE FROM meta WHERE name = 'import'");
}

async function markOf(tx: Tx): Promise<string> {
  return String((await tx.get(MARK_QUERY))?.['value'] ?? '');
}
