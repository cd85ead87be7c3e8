import type { Reader, Row, Tx, Writer } from '../../shared/store/driver.ts';
import { POSITION_QUERY } from '../../shared/store/meta.ts';
import { exact, portionsOf, quoted, type Table } from './table-portions.ts';

/** Values bound by one statement: as many rows as have so many travel in it. */
const VALUES_MAX = 1000;
/** Somebody may write to the original; so often it is begun anew. */
const ATTEMPTS_MAX = 3;
/** What speaks of processes and of this very database, not of the project: each copy has its own. */
const OWN_TABLES: readonly string[] = ['blob_pin', 'blob_erasure'];
const OWN_META = "('commit_seq', 'last_group', 'import')";

/** Why a copy cannot be made, in words for the operator. */
export class CopyRefused extends Error {}

/** The original was written to all the time. */
export class RestlessError extends CopyRefused {
  constructor() {
    super('The database was written to while it was copied.');
    this.name = 'RestlessError';
  }
}

export interface CopyOptions {
  /** Of the rows in all tables. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Begins each transaction: throws when somebody else has come to fill the same place. */
  readonly guard?: (tx: Tx) => Promise<void>;
}

interface Plan {
  readonly schema: number;
  readonly position: number;
  readonly tables: readonly Table[];
  /** Of each table, how many. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Makes a database that has the tables of this release the same as another that has them, row by row: for where a file
 * cannot be copied, because one of the two is on a server. What it held is deleted. Both are read and written in portions of
 * about 1 MB, each a transaction of its own, since a server ends those that last for seconds; all of them are of one
 * position. Throws a `RestlessError` where the original does not stand still for long enough.
 */
export async function copyTables(
  from: Reader,
  to: Writer,
  copy: Reader,
  options: CopyOptions = {},
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await copyOnce(from, to, options);
      return await verify(from, copy);
    } catch (error) {
      if (!(error instanceof RestlessError) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Deletes the rows of all tables, each in a transaction of its own, but for what a database says of itself. */
export async function emptyTables(
  to: Writer,
  { signal, guard }: Pick<CopyOptions, 'signal' | 'guard'> = {},
): Promise<void> {
  const names = await to.write(tableNames);
  // Those that refer to others stand behind them.
  for (const name of names.toReversed()) {
    signal?.throwIfAborted();
    await to.write(async (tx) => {
      await guard?.(tx);
      await tx.run(`DELETE FROM ${quoted(name)} ${ownMeta(name)}`);
    });
  }
}

/** What is wrong with a copy: the first difference of tables, indexes or counts; null when there is none. */
function difference(original: Tally, made: Tally): string | null {
  const missing = original.names.find((name) => !made.names.includes(name));
  if (missing !== undefined) return `no ${missing}`;
  for (const [name, count] of original.counts) {
    const found = made.counts.get(name) ?? 0;
    if (found !== count) return `${found} rows of ${count} in ${name}`;
  }
  return null;
}

async function copyOnce(from: Reader, to: Writer, options: CopyOptions): Promise<void> {
  const { onProgress, signal, guard } = options;
  const plan = await from.read(planOf);
  await refuseOtherSchema(plan, to);
  await emptyTables(to, options);
  const total = [...plan.counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(0, total);
  for (const table of plan.tables) {
    const read = <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => readAt(from, plan.position, fn);
    for await (const rows of portionsOf(table, read)) {
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
    // The commit that this is part of counts it up by one.
    const position = BigInt(plan.position - 1);
    await tx.run("UPDATE meta SET value = ? WHERE name = 'commit_seq'", [position]);
  });
}

async function refuseOtherSchema(plan: Plan, to: Writer): Promise<void> {
  if (plan.tables.length === 0) throw new CopyRefused('The original has no tables.');
  const schema = await to.write(schemaOf);
  if (schema === plan.schema) return;
  throw new CopyRefused(
    `The original has schema ${plan.schema}, and the copy ${schema}: open the original with this release first.`,
  );
}

/** Throws unless both have the same position, tables, indexes, and as many rows. */
async function verify(from: Reader, copy: Reader): Promise<void> {
  const [original, made] = [await from.read(tallyOf), await copy.read(tallyOf)];
  if (original.position !== made.position) throw new RestlessError();
  const different = difference(original, made);
  if (different !== null) throw new Error(`The copy has ${different}.`);
}

interface Tally {
  readonly position: number;
  /** Of the tables and indexes. */
  readonly names: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

async function tallyOf(tx: Tx): Promise<Tally> {
  const made = await tx.all(`SELECT name FROM sqlite_schema WHERE ${OURS}`);
  return {
    position: await positionOf(tx),
    names: made.map(({ name }) => String(name)),
    counts: await countsOf(tx, await tableNames(tx)),
  };
}

async function countsOf(tx: Tx, names: readonly string[]): Promise<Map<string, number>> {
  const counted = names
    .filter((name) => !OWN_TABLES.includes(name))
    .map(async (name): Promise<[string, number]> => {
      const row = await tx.get(`SELECT count(*) AS count FROM ${quoted(name)} ${ownMeta(name)}`);
      return [name, Number(row?.['count'])];
    });
  return new Map(await Promise.all(counted));
}

async function planOf(tx: Tx): Promise<Plan> {
  const names = await tableNames(tx);
  const copied = names.filter((name) => !OWN_TABLES.includes(name));
  const tables = await Promise.all(copied.map((name) => tableOf(tx, name)));
  const counts = await countsOf(tx, names);
  const position = tables.length > 0 ? await positionOf(tx) : 0;
  return { schema: await schemaOf(tx), position, tables, counts };
}

async function tableOf(tx: Tx, name: string): Promise<Table> {
  const info = await tx.all(`SELECT name, pk FROM pragma_table_info(?) ORDER BY cid`, [name]);
  const key = info.filter(({ pk }) => Number(pk) > 0);
  return {
    name: quoted(name),
    columns: info.map((column) => quoted(String(column['name']))),
    key: key
      .toSorted((one, other) => Number(one['pk']) - Number(other['pk']))
      .map((column) => String(column['name'])),
    only: name === 'meta' ? `name NOT IN ${OWN_META}` : '1',
  };
}

const OURS = "name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*'";

/** In the order they were made: what refers to a table was made after it. */
async function tableNames(tx: Tx): Promise<string[]> {
  const rows = await tx.all(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND ${OURS} ORDER BY rowid`,
  );
  return rows.map(({ name }) => String(name));
}

function ownMeta(name: string): string {
  return name === 'meta' ? `WHERE name NOT IN ${OWN_META}` : '';
}

async function schemaOf(tx: Tx): Promise<number> {
  return Number((await tx.get('PRAGMA user_version'))?.['user_version']);
}

async function positionOf(tx: Tx): Promise<number> {
  return Number((await tx.get(POSITION_QUERY))?.['value']);
}

function readAt<T>(from: Reader, position: number, fn: (tx: Tx) => Promise<T>): Promise<T> {
  return from.read(async (tx) => {
    if ((await positionOf(tx)) !== position) throw new RestlessError();
    return fn(tx);
  });
}

async function insert(tx: Tx, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const places = `(${columns.map(() => '?').join(', ')})`;
  const atOnce = Math.max(1, Math.floor(VALUES_MAX / columns.length));
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = rows.slice(from, from + atOnce);
    const sql = `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${some.map(() => places).join(', ')}`;
    // In the order of the columns, as they were asked for.
    await tx.put(
      sql,
      some.flatMap((row) => Object.values(row).map(exact)),
    );
  }
}
