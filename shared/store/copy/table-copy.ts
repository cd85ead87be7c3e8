import type { Reader, Row, Tx, Writer } from '../engine/driver.ts';
import { POSITION_QUERY } from '../tables/meta.ts';
import { migrate } from '../engine/migrate.ts';
import { exact, portionsOf, quoted, type Table } from './table-portions.ts';
import { EmbeddedWriter, type WriterOptions } from '../engine/writer.ts';

/** Values that one statement binds; this limits the rows it inserts. */
const VALUES_MAX = 1000;
/** What isn't copied: tables by name, and rows of `meta` as a list in SQL. The copy has its own position in any case. */
interface Own {
  readonly tables: readonly string[];
  readonly meta: string;
}

/** What is about processes and about this database, not the project. */
const EXPORTED: Own = {
  tables: ['blob_pin', 'blob_erasure'],
  meta: "('commit_seq', 'last_group', 'import')",
};
/** A mirror has everything. */
export const MIRRORED: Own = { tables: [], meta: "('commit_seq')" };

/** Says why a copy can't be made, in words for the operator. */
export class CopyError extends Error {}

export interface CopyOptions {
  /** Counts the rows of all tables. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: what belongs to a database, not to its project. */
  readonly own?: Own;
  /** Runs first in each transaction; throws if another process has started to fill the same database. */
  readonly guard?: (tx: Tx) => Promise<void>;
}

interface Plan {
  readonly schema: number;
  readonly position: number;
  /** Without those that are empty. */
  readonly tables: readonly Table[];
  /** Rows of each table. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * A new file for the rows of another database. Their references were checked there, so they may come in any order, and a
 * copy has what its original has.
 */
export function openCopy(
  path: string,
  family: 'project' | 'control',
  options: Pick<WriterOptions, 'onFatal'>,
): EmbeddedWriter {
  return new EmbeddedWriter(path, { ...options, isCopy: true }, (one) => {
    migrate(one, family);
    one.exec('PRAGMA foreign_keys=OFF');
  });
}

/**
 * Copies all tables of a database into another one of this release, row by row, for databases on a server, where a
 * file copy isn't possible. Nobody writes to the original meanwhile, or all reads of `from` see one moment. The old
 * content of the target is deleted. Portions are about 1 MB, each in its own transaction, because a server ends
 * transactions that write for seconds.
 */
export async function copyTables(
  from: Reader,
  to: Writer,
  copy: Reader,
  options: CopyOptions = {},
): Promise<void> {
  await copyRows(from, to, options);
  const tally = (tx: Tx): Promise<Tally> => tallyOf(tx, options.own ?? EXPORTED);
  const different = difference(await from.read(tally), await copy.read(tally));
  if (different !== null) throw new Error(`The copy has ${different}.`);
}

/** Deletes the rows of all tables, each in its own transaction, but keeps the database's own meta rows. */
export async function emptyTables(
  to: Writer,
  { signal, guard, own = EXPORTED }: Pick<CopyOptions, 'signal' | 'guard' | 'own'> = {},
): Promise<void> {
  const names = await to.write(tableNames);
  // Tables come after the tables that they refer to, so delete in reverse.
  for (const name of names.toReversed()) {
    signal?.throwIfAborted();
    await to.write(async (tx) => {
      await guard?.(tx);
      await tx.run(`DELETE FROM ${quoted(name)} ${onlyCopied(name, own)}`);
    });
  }
}

/** Returns the first missing table or index, or wrong count or position, of a copy; null if it matches. */
function difference(original: Tally, made: Tally): string | null {
  if (original.position !== made.position) {
    return `position ${made.position} in place of ${original.position}`;
  }
  const missing = original.names.find((name) => !made.names.includes(name));
  if (missing !== undefined) return `no ${missing}`;
  for (const [name, count] of original.counts) {
    const found = made.counts.get(name) ?? 0;
    if (found !== count) return `${found} rows of ${count} in ${name}`;
  }
  return null;
}

async function copyRows(from: Reader, to: Writer, options: CopyOptions): Promise<void> {
  const { onProgress, signal, guard, own = EXPORTED } = options;
  const plan = await from.read((tx) => planOf(tx, own));
  await refuseOtherSchema(plan, to);
  await emptyTables(to, options);
  const total = [...plan.counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(0, total);
  for (const table of plan.tables) {
    for await (const rows of portionsOf(table, from)) {
      signal?.throwIfAborted();
      await to.write(async (tx) => {
        await guard?.(tx);
        await insert(tx, table, rows);
      });
      done += rows.length;
      onProgress?.(done, total);
    }
  }
  await to.write(async (tx) => {
    await guard?.(tx);
    // The commit of this transaction increments it by one.
    const position = BigInt(plan.position - 1);
    await tx.run("UPDATE meta SET value = ? WHERE name = 'commit_seq'", [position]);
  });
}

async function refuseOtherSchema(plan: Plan, to: Writer): Promise<void> {
  if (plan.counts.size === 0) throw new CopyError('The original has no tables.');
  const schema = await to.write(schemaOf);
  if (schema === plan.schema) return;
  throw new CopyError(
    `The original has schema ${plan.schema}, and the copy ${schema}: open the original with this release first.`,
  );
}

interface Tally {
  readonly position: number;
  /** Names of tables and indexes. */
  readonly names: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

async function tallyOf(tx: Tx, own: Own): Promise<Tally> {
  const made = await tx.all(`SELECT name FROM sqlite_schema WHERE ${OURS}`);
  return {
    position: await positionOf(tx),
    names: made.map(({ name }) => String(name)),
    counts: await countsOf(tx, await tableNames(tx), own),
  };
}

async function countsOf(tx: Tx, names: readonly string[], own: Own): Promise<Map<string, number>> {
  const counted = names
    .filter((name) => !own.tables.includes(name))
    .map(async (name): Promise<[string, number]> => {
      const row = await tx.get(
        `SELECT count(*) AS count FROM ${quoted(name)} ${onlyCopied(name, own)}`,
      );
      return [name, Number(row?.['count'])];
    });
  return new Map(await Promise.all(counted));
}

async function planOf(tx: Tx, own: Own): Promise<Plan> {
  const names = await tableNames(tx);
  const counts = await countsOf(tx, names, own);
  // Most tables of a new project are empty, and a server is asked about each table by itself.
  const filled = names.filter((name) => (counts.get(name) ?? 0) > 0);
  const tables = await Promise.all(filled.map((name) => tableOf(tx, name, own)));
  const position = names.length > 0 ? await positionOf(tx) : 0;
  return { schema: await schemaOf(tx), position, tables, counts };
}

async function tableOf(tx: Tx, name: string, own: Own): Promise<Table> {
  const info = await tx.all(`SELECT name, pk FROM pragma_table_info(?) ORDER BY cid`, [name]);
  const key = info.filter(({ pk }) => Number(pk) > 0);
  return {
    name: quoted(name),
    columns: info.map((column) => quoted(String(column['name']))),
    key: key
      .toSorted((one, other) => Number(one['pk']) - Number(other['pk']))
      .map((column) => String(column['name'])),
    only: name === 'meta' ? `name NOT IN ${own.meta}` : '1',
  };
}

/** The log of groups is a server's own. */
const OURS = "name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*' AND name <> 'group_log'";

/**
 * Returns the tables, each after the tables that it refers to: a server checks references in every transaction. The
 * order of creation doesn't tell, because a migration may add a reference to an older table.
 */
async function tableNames(tx: Tx): Promise<string[]> {
  const rows = await tx.all(
    `SELECT ours.name, list."table" AS refers_to
     FROM (SELECT rowid AS made, name FROM sqlite_schema WHERE type = 'table' AND ${OURS}) AS ours
     LEFT JOIN pragma_foreign_key_list(ours.name) AS list ORDER BY ours.made`,
  );
  const references = new Map<string, string[]>();
  for (const row of rows) {
    const [name, other] = [String(row['name']), row['refers_to']];
    references.set(name, [
      ...(references.get(name) ?? []),
      ...(other === null ? [] : [String(other)]),
    ]);
  }
  return afterTheirReferences(references);
}

function afterTheirReferences(references: ReadonlyMap<string, readonly string[]>): string[] {
  const [begun, ordered] = [new Set<string>(), new Array<string>()];
  const add = (name: string): void => {
    if (begun.has(name)) return;
    begun.add(name);
    references.get(name)?.forEach(add);
    ordered.push(name);
  };
  for (const name of references.keys()) add(name);
  return ordered;
}

function onlyCopied(name: string, own: Own): string {
  return name === 'meta' ? `WHERE name NOT IN ${own.meta}` : '';
}

async function schemaOf(tx: Tx): Promise<number> {
  return Number((await tx.get('PRAGMA user_version'))?.['user_version']);
}

async function positionOf(tx: Tx): Promise<number> {
  return Number((await tx.get(POSITION_QUERY))?.['value']);
}

async function insert(tx: Tx, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const places = `(${columns.map(() => '?').join(', ')})`;
  const atOnce = Math.max(1, Math.floor(VALUES_MAX / columns.length));
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = rows.slice(from, from + atOnce);
    const sql = `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${some.map(() => places).join(', ')}`;
    // The values follow the order of the selected columns.
    await tx.put(
      sql,
      some.flatMap((row) => Object.values(row).map(exact)),
    );
  }
}
