import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyDatabase, copyRows } from '../../../gateway/store/database-copy.ts';
import type { DatabaseLocation } from '../../../shared/store/engine/location.ts';
import { openReadOnly } from '../../../gateway/store/read-only.ts';
import { copyTables } from '../../../shared/store/copy/table-copy.ts';
import { EmbeddedWriter } from '../../../shared/store/engine/writer.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

let root: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  root = temporaryFolder();
});
afterEach(() => root.remove());

const at = (name: string): { kind: 'file'; path: string } => ({
  kind: 'file',
  path: join(root.path, name),
});

/** A project with rows of many kinds, more of them than are copied at a time; its database. */
async function filled(): Promise<DatabaseLocation> {
  const gateway = await TestGateway.start({ folder: join(root.path, 'data') });
  const hook = await gateway.addSource({ name: 'open' });
  for (let n = 0; n < 130; n += 1) {
    await gateway.deliver(hook, JSON.stringify({ n, text: 'naïve 🙂'.repeat(n) }));
  }
  await gateway.call('PUT', '/v1/kv/a', { body: { deep: [1, 2.5, null] } });
  const ask = { action: 'refund', summary: 'Refund', amount: 12.5, wait_seconds: 0 };
  await gateway.call('POST', '/v1/requests', { body: ask });
  await gateway.key('inbox:read');
  await gateway.stop({ keepFolder: true });
  return at(`data/projects/${gateway.projectId}/project.db`);
}

async function copyByRows(from: DatabaseLocation): Promise<void> {
  const source = await openReadOnly(from);
  try {
    await copyRows(source, at('rows.db').path);
  } finally {
    await source.close();
  }
}

/** Everything there is, with the type each value has in the file. */
function dump({ path }: { path: string }): Record<string, unknown[]> {
  return withRawDatabase(path, (raw) => {
    const names = raw.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    const tables: Record<string, unknown[]> = {};
    for (const { name } of names) {
      const columns = raw.all(`SELECT name FROM pragma_table_info('${String(name)}')`);
      const shown = columns.map((column) => `quote("${String(column['name'])}")`).join(", '|', ");
      const rows = raw.all(`SELECT concat(${shown}) AS line FROM "${String(name)}"`);
      tables[String(name)] = rows.map((row) => String(row['line'])).toSorted();
    }
    return tables;
  });
}

/** `made` came first and refers to what came later, as after a migration. */
const LATER = `CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
  INSERT INTO meta VALUES ('commit_seq', 0);
  CREATE TABLE made (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE last (id INTEGER PRIMARY KEY, made_id INTEGER REFERENCES made (id)) STRICT;
  ALTER TABLE made ADD COLUMN later_id INTEGER REFERENCES later (id)`;

describe('a table that refers to one that was made later', () => {
  it('is filled after it and emptied before it where references are checked at once', async () => {
    const [from, to] = [at('from.db'), at('to.db')];
    const rows =
      'INSERT INTO later VALUES (1); INSERT INTO made VALUES (2, 1); INSERT INTO last VALUES (3, 2)';
    const open = ({ path }: typeof to, sql: string): EmbeddedWriter =>
      new EmbeddedWriter(path, { onFatal: () => undefined }, (one) => one.exec(sql));
    const original = open(from, `${LATER}; ${rows}`);
    const target = open(to, `${LATER}; ${rows}; INSERT INTO later VALUES (4)`);
    const [source, copy] = [await openReadOnly(from), await openReadOnly(to)];
    await copyTables(source, target, copy);
    for (const one of [source, copy, original, target]) await one.close();
    expect(dump(to)).toMatchObject({ later: ['1'], made: ['2|1'], last: ['3|2'] });
  });
});

describe('a database that is copied row by row', () => {
  it('is the same as one that is copied as a file', async () => {
    const from = await filled();
    await copyDatabase(from, at('snapshot.db').path);
    await copyByRows(from);
    const expected = dump(at('snapshot.db'));
    expect(dump(at('rows.db'))).toEqual(expected);
    expect(expected['event']).toHaveLength(130);
    expect(expected['request']).toHaveLength(1);
  });

  it('has nothing of what was there before', async () => {
    const from = await filled();
    await copyByRows(from);
    const expected = dump(at('rows.db'));
    withRawDatabase(at('rows.db').path, (raw) =>
      raw.exec("UPDATE meta SET value = 99999; INSERT INTO transfer VALUES ('2026-01', 5)"),
    );
    await copyByRows(from);
    expect(dump(at('rows.db'))).toEqual(expected);
  });

  it('is refused where the tables are not those of this release', async () => {
    const from = await filled();
    withRawDatabase((from as { path: string }).path, (raw) => raw.exec('PRAGMA user_version=1'));
    await expect(copyByRows(from)).rejects.toThrow('has schema 1');
  });
});
