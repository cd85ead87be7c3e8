import type { Reader, Tx } from '../../shared/store/driver.ts';
import { CopyRefused } from './table-copy.ts';
import { POSITION_QUERY } from '../../shared/store/meta.ts';

/** What is in a database that a project is to be brought into. */
export type Found =
  /** Nothing that anybody wrote. */
  | { readonly kind: 'empty' }
  /** Part of a project: an import was cut short, or is at work. */
  | { readonly kind: 'part' }
  /** All of a project, checked, and the control database has perhaps not heard of it. */
  | { readonly kind: 'whole'; readonly origin: string }
  | { readonly kind: 'used' };

const MARK_QUERY = "SELECT value FROM meta WHERE name = 'import'";
const SET_MARK =
  "INSERT INTO meta (name, value) VALUES ('import', ?) ON CONFLICT DO UPDATE SET value = excluded.value";
const NOBODY = "name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*'";

/** Without a change, so that the database of somebody else stays as it is. */
export function findImport(reader: Reader): Promise<Found> {
  return reader.read(async (tx): Promise<Found> => {
    const anything = await tx.get(`SELECT 1 AS found FROM sqlite_schema WHERE ${NOBODY} LIMIT 1`);
    if (!anything) return { kind: 'empty' };
    // Tables, and none of our migrations has made them.
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
 * In the database that a project is brought into, for as long as the control database does not know the project: it tells
 * what an import has left from what is in use, and lets only the newest of several imports go on.
 */
export class ImportMark {
  readonly #part: string;

  /** `token`: a random name of this import. */
  constructor(token: string) {
    this.#part = `part ${token}`;
  }

  async begin(tx: Tx): Promise<void> {
    await tx.put(SET_MARK, [this.#part]);
  }

  /** Throws a `CopyRefused` when another import has begun since. */
  async check(tx: Tx): Promise<void> {
    if ((await markOf(tx)) === this.#part) return;
    throw new CopyRefused('Another import of this project has begun since. This one ends.');
  }

  /** From here on nothing of it is deleted any more. `origin` names what was brought in, in one word. */
  async finish(tx: Tx, origin: string): Promise<void> {
    await this.check(tx);
    await tx.put(SET_MARK, [`whole ${origin}`]);
    // The position of the original stands: this commit counts it up again.
    await tx.put("UPDATE meta SET value = value - 1 WHERE name = 'commit_seq'");
  }
}

/** The control database knows the project. */
export async function endImport(tx: Tx): Promise<void> {
  await tx.put("DELETE FROM meta WHERE name = 'import'");
}

async function markOf(tx: Tx): Promise<string> {
  return String((await tx.get(MARK_QUERY))?.['value'] ?? '');
}
