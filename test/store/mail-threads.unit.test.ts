import { afterAll, beforeAll, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import {
  MAIL_LISTS,
  receivedQuery,
  SENT_IN_STATE,
} from '../../shared/store/tables/mail/mail-threads.ts';
import { migrate } from '../../shared/store/engine/migrate.ts';

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

it('lists mails along the indexes, however many events there are', () => {
  const steps = Object.values(MAIL_LISTS).flatMap((sql) =>
    connection
      .all(
        `EXPLAIN QUERY PLAN ${sql}`,
        sql.includes('thread_id = ?') ? ['thr_1', '~', 9] : ['9', 9],
      )
      .map(({ detail }) => String(detail)),
  );
  expect(steps.filter((step) => /^(?:SCAN (?!m\b)|USE TEMP B-TREE)/.test(step))).toEqual([]);
  // Not the place in the order of all events, most of which are no mails.
  expect(steps).toContain('SEARCH event USING INDEX event_mail (seq<?)');
});

it('finds and counts sent mail by its state along one index', () => {
  const asked = [
    [SENT_IN_STATE.page, ['bounced', '~', 9]],
    [SENT_IN_STATE.count, ['bounced']],
  ] as const;
  for (const [sql, params] of asked) {
    const plan = connection
      .all(`EXPLAIN QUERY PLAN ${sql}`, params)
      .map(({ detail }) => String(detail))
      .filter((step) => step.includes('email_message') || step.includes('TEMP'));
    expect(plan).toEqual([
      expect.stringMatching(
        /^SEARCH email_message USING COVERING INDEX email_message_status \(status=\?/,
      ),
    ]);
  }
});
