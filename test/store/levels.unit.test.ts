import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import { migrate } from '../../shared/store/engine/migrate.ts';
import { afterFolder, afterName, levelQuery } from '../../shared/store/tables/text-range.ts';

let connection: Connection;
beforeAll(() => {
  connection = new Connection(':memory:');
  migrate(connection, 'project');
});
afterAll(() => connection.close());
beforeEach(() => connection.exec('DELETE FROM file'));

const TABLE = { table: 'file', column: 'path', columns: 'path' } as const;

function fill(paths: readonly string[]): void {
  for (const path of paths) {
    connection.run(
      "INSERT INTO file (path, digest, size_bytes, content_type, version, updated_at) VALUES (?, '', 0, '', 1, '')",
      [path],
    );
  }
}

/** All entries of a level, read in pages. */
function level(under: string, prefix: string, limit: number): string[] {
  const found: string[] = [];
  let from = '';
  for (;;) {
    const { sql, params } = levelQuery(TABLE, { under, prefix, from, limit });
    const rows = connection.all(sql, params).map(({ path }) => String(path));
    const names = rows.map((path) => {
      const slash = path.indexOf('/', under.length);
      return slash === -1 ? path : path.slice(0, slash + 1);
    });
    found.push(...names);
    const last = names.at(-1);
    if (last === undefined || names.length < limit) return found;
    from = last.endsWith('/') ? afterFolder(last) : afterName(last);
  }
}

const name = fc.string({
  unit: fc.constantFrom('a', 'b', '0', '!', ' ', 'é', '😀'),
  minLength: 1,
  maxLength: 2,
});
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));

describe('a level of names', () => {
  it('has each folder once, and the names on it, in byte order', () => {
    const property = fc.property(
      fc.uniqueArray(path, { maxLength: 20 }),
      fc.constantFrom('', 'a/', 'a/b/'),
      fc.integer({ min: 1, max: 4 }),
      (paths, under, limit) => {
        connection.exec('DELETE FROM file');
        fill(paths);
        const wanted = paths
          .filter((one) => one.startsWith(under))
          .map((one) => {
            const slash = one.indexOf('/', under.length);
            return slash === -1 ? one : one.slice(0, slash + 1);
          });
        const inOrder = [...new Set(wanted)].toSorted((a, b) =>
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
        expect(level(under, under, limit)).toEqual(inOrder);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it('is sought in the index, however many names a folder has', () => {
    const range = { under: 'a/', prefix: 'a/b', from: '', limit: 9 };
    const { sql, params } = levelQuery(TABLE, range);
    const steps = connection
      .all(`EXPLAIN QUERY PLAN ${sql}`, params)
      .map(({ detail }) => String(detail));
    expect(steps.filter((step) => step.startsWith('SCAN file'))).toEqual([]);
    expect(steps.filter((step) => step.startsWith('SEARCH file'))).toEqual([
      'SEARCH file USING PRIMARY KEY (path>? AND path<?)',
      'SEARCH file USING PRIMARY KEY (path>? AND path<?)',
      'SEARCH file USING PRIMARY KEY (path=?)',
    ]);
  });
});
