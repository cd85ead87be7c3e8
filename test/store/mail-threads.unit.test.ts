import { afterAll, beforeAll, expect, it } from 'vitest';
import { Connection } from '../../shared/store/connection.ts';
import { receivedQuery } from '../../shared/store/mail-threads.ts';
import { migrate } from '../../shared/store/migrate.ts';

let connection: Connection;
beforeAll(() => {
  connection = new Connection(':memory:');
  migrate(connection, 'project');
});
afterAll(() => connection.close());

it('finds a mail by its Message-ID in the index, however many events there are', () => {
  const { sql, params } = receivedQuery('<a@example.com>');
  const plan = connection
    .all(`EXPLAIN QUERY PLAN ${sql}`, params)
    .map(({ detail }) => String(detail));
  expect(plan.filter((step) => /^SCAN (?:e|event)\b/.test(step))).toEqual([]);
  expect(plan.filter((step) => step.startsWith('SEARCH e USING INDEX event_provider_id'))).toEqual([
    'SEARCH e USING INDEX event_provider_id (source_id=? AND provider_id=?)',
    'SEARCH e USING INDEX event_provider_id (source_id=? AND provider_id>? AND provider_id<?)',
  ]);
});
