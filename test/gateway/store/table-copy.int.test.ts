import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyDatabase, copyRows } from '../../../gateway/store/database-copy.ts';
import type { DatabaseLocation } from '../../../shared/store/location.ts';
import { openWriter } from '../../../shared/store/open.ts';
import { openReadOnly } from '../../../gateway/store/read-only.ts';
import { copyTables, RestlessError } from '../../../shared/store/table-copy.ts';
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

describe('a database that is copied row by row', () => {
  it('is the same as one that is copied as a file', async () => {
    const from = await filled();
    await copyDatabase(from, at('snapshot.db').path);
    await copyRows(from, at('rows.db').path);
    const expected = dump(at('snapshot.db'));
    expect(dump(at('rows.db'))).toEqual(expected);
    expect(expected['event']).toHaveLength(130);
    expect(expected['request']).toHaveLength(1);
  });

  it('has nothing of what was there before', async () => {
    const from = await filled();
    await copyRows(from, at('rows.db').path);
    const expected = dump(at('rows.db'));
    withRawDatabase(at('rows.db').path, (raw) =>
      raw.exec("UPDATE meta SET value = 99999; INSERT INTO transfer VALUES ('2026-01', 5)"),
    );
    await copyRows(from, at('rows.db').path);
    expect(dump(at('rows.db'))).toEqual(expected);
  });

  it('is refused while the original is written to all the time', async () => {
    const from = await filled();
    const options = { onFatal: () => undefined };
    const [original, target] = [
      await openWriter(from, 'project', options),
      await openWriter(at('rows.db'), 'project', options),
    ];
    const [source, copy] = [await openReadOnly(from), await openReadOnly(at('rows.db'))];
    // Something is committed before every portion.
    const restless: typeof source = {
      ...source,
      close: () => source.close(),
      read: async (fn) => {
        await original.write((tx) => tx.run("UPDATE disk SET value = value WHERE name = 'keys'"));
        return source.read(fn);
      },
    };
    await expect(copyTables(restless, target, copy)).rejects.toBeInstanceOf(RestlessError);
    for (const one of [source, copy, original, target]) await one.close();
  });

  it('is refused where the tables are not those of this release', async () => {
    const from = await filled();
    withRawDatabase((from as { path: string }).path, (raw) => raw.exec('PRAGMA user_version=1'));
    await expect(copyRows(from, at('rows.db').path)).rejects.toThrow('has schema 1');
  });
});
