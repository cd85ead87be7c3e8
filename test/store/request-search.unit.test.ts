import { afterAll, beforeAll, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import { migrate } from '../../shared/store/engine/migrate.ts';
import {
  requestSearchQuery,
  type RequestFilter,
} from '../../shared/store/tables/people/request-search.ts';

let connection: Connection;
beforeAll(() => {
  connection = new Connection(':memory:');
  migrate(connection, 'project');
});
afterAll(() => connection.close());

function planOf(filter: RequestFilter): string[] {
  const wanted = { beforeId: 'req_z', limit: 9, scan: 99, now: 1 };
  const { sql, params } = requestSearchQuery({ ...wanted, ...filter });
  return connection.all(`EXPLAIN QUERY PLAN ${sql}`, params).map(({ detail }) => String(detail));
}

it.each([
  [{}, 'USING PRIMARY KEY (id<?)'],
  [{ risk: 'high', status: 'denied' }, 'USING PRIMARY KEY (id<?)'],
  [{ agent: 'bot' }, 'USING INDEX request_agent (agent=? AND id<?)'],
  [{ agent: 'bot', action: 'pay', risk: 'low' }, 'USING INDEX request_agent (agent=? AND id<?)'],
  [{ action: 'pay', status: 'expired' }, 'USING INDEX request_action (action=? AND id<?)'],
])('%j walks an index from where the page begins', (filter, used) => {
  const plan = planOf(filter);
  expect(plan.filter((step) => step.includes('request'))).toEqual([`SEARCH request ${used}`]);
});
