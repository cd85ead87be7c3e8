import { describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import { firstMigrations, migrate, newestSchema } from '../../shared/store/engine/migrate.ts';

function schemaOf(family: 'project' | 'control'): string {
  const connection = new Connection(':memory:');
  migrate(connection, family);
  const version = Number(connection.get('PRAGMA user_version')?.['user_version']);
  const rows = connection.all(
    'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name',
  );
  connection.close();
  return `-- ${family}, schema ${version}\n\n${rows.map((row) => `${String(row['sql'])};\n`).join('\n')}`;
}

/** Everything that stands in a database. */
function contentOf(connection: Connection): unknown {
  const parts = connection.all('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name');
  const rows = parts
    .filter(({ type }) => type === 'table')
    .map(({ name }) => [name, connection.all(`SELECT * FROM "${String(name)}"`)]);
  connection.close();
  return { parts, rows };
}

describe('the schema', () => {
  it('of a new database is what the migrations make one after the other, with the same rows', () => {
    for (const family of ['project', 'control'] as const) {
      const old = new Connection(':memory:');
      for (const text of firstMigrations(family, newestSchema(family))) old.exec(text);
      const made = new Connection(':memory:');
      migrate(made, family);
      expect(contentOf(made)).toEqual(contentOf(old));
    }
  });

  it('is the one that is written down', async () => {
    // A released migration never changes: a difference here is a new numbered file, or a mistake.
    const dump = `${schemaOf('control')}\n${schemaOf('project')}`;
    await expect(dump).toMatchFileSnapshot('./schema.sql');
  });

  it('has no table that refers to itself, directly or through others: a server gets them one by one', () => {
    for (const family of ['project', 'control'] as const) {
      const connection = new Connection(':memory:');
      migrate(connection, family);
      const circles = connection.all(
        `WITH RECURSIVE reached (start, name) AS (
           SELECT t.name, f."table" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
           UNION SELECT r.start, f."table" FROM reached AS r, pragma_foreign_key_list(r.name) AS f)
         SELECT start FROM reached WHERE start = name`,
      );
      expect(circles).toEqual([]);
      connection.close();
    }
  });

  it('has strict tables only', () => {
    for (const family of ['project', 'control'] as const) {
      const connection = new Connection(':memory:');
      migrate(connection, family);
      const tables = connection.all('PRAGMA table_list').filter((row) => row['schema'] === 'main');
      const loose = tables.filter((row) => row['strict'] !== 1 && row['name'] !== 'sqlite_schema');
      expect(loose).toEqual([]);
      connection.close();
    }
  });
});
