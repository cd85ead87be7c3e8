import { contentSum } from './content-sum.ts';
import type { Row, SqlValue, Tx } from '../engine/driver.ts';
import {
  batchFields,
  messageFields,
  type EmailBatchRow,
  type EmailMessageRow,
} from '../tables/mail/emails.ts';
import { eventSums } from '../tables/inbox/event-content.ts';
import type { EventRow } from '../tables/inbox/events.ts';
import { fileFields, type FileRow } from '../tables/disk/files.ts';
import { valueFields } from '../tables/disk/kv.ts';
import { parkFields } from '../tables/inbox/parks.ts';
import { policyFields, type PolicyRow } from '../tables/people/policies.ts';
import { REQUEST_COLUMNS, requestFields, type RequestRow } from '../tables/people/requests.ts';
import { voteFields, type VoteRow } from '../tables/people/votes.ts';

/** A family of rows with sums: which have none, and what to store. */
interface Family {
  /** A condition that an index answers. */
  readonly missing: string;
  readonly select: string;
  readonly update: string;
  /** The values of the update: sums, and the key of the row. */
  readonly values: (row: never) => readonly SqlValue[];
}

type ValueRow = Row & {
  at: number;
  key: string;
  version: number;
  note: string | null;
  value: Uint8Array;
};

function ofValues(table: 'kv' | 'state_version', id: 'id' | 'version'): Family {
  return {
    missing: `${table} WHERE sum IS NULL`,
    select: `SELECT ${id} AS at, key, version, note, value FROM ${table} WHERE sum IS NULL ORDER BY ${id} LIMIT ?`,
    update: `UPDATE ${table} SET sum = ? WHERE ${id} = ?`,
    values: (row: ValueRow) => [contentSum(valueFields(row), row.value), row.at],
  };
}

const FAMILIES: readonly Family[] = [
  ofValues('kv', 'id'),
  ofValues('state_version', 'version'),
  {
    missing: 'file WHERE sum IS NULL',
    select:
      'SELECT path, digest, size_bytes, content_type, version, updated_at FROM file WHERE sum IS NULL ORDER BY path LIMIT ?',
    update: 'UPDATE file SET sum = ? WHERE path = ?',
    values: (row: FileRow) => [contentSum(fileFields(row)), row.path],
  },
  {
    missing: 'park WHERE sum IS NULL',
    select:
      'SELECT seq, parks, parked_at, wakes_on_any, conditions, state, because FROM park WHERE sum IS NULL ORDER BY seq LIMIT ?',
    update: 'UPDATE park SET sum = ? WHERE seq = ?',
    values: (row: Parameters<typeof parkFields>[0] & { seq: number }) => [
      contentSum(parkFields(row)),
      row.seq,
    ],
  },
  {
    missing: 'request WHERE sum IS NULL',
    select: `SELECT ${REQUEST_COLUMNS} FROM request WHERE sum IS NULL ORDER BY id LIMIT ?`,
    update: 'UPDATE request SET sum = ? WHERE id = ?',
    values: (row: RequestRow) => [contentSum(requestFields(row)), row.id],
  },
  {
    missing: 'vote WHERE sum IS NULL',
    select:
      'SELECT request_id, channel_id, at, comment, counts FROM vote WHERE sum IS NULL ORDER BY request_id LIMIT ?',
    update: 'UPDATE vote SET sum = ? WHERE request_id = ? AND channel_id = ?',
    values: (row: VoteRow) => [contentSum(voteFields(row)), row.request_id, row.channel_id],
  },
  {
    missing: 'policy WHERE sum IS NULL',
    select: 'SELECT * FROM policy WHERE sum IS NULL ORDER BY version LIMIT ?',
    update: 'UPDATE policy SET sum = ? WHERE version = ?',
    values: (row: PolicyRow) => [contentSum(policyFields(row)), row.version],
  },
  {
    missing: 'email_batch WHERE sum IS NULL',
    select: 'SELECT * FROM email_batch WHERE sum IS NULL ORDER BY id LIMIT ?',
    update: 'UPDATE email_batch SET sum = ? WHERE id = ?',
    values: (row: EmailBatchRow) => [contentSum(batchFields(row)), row.id],
  },
  {
    missing: 'email_message WHERE sum IS NULL',
    select: 'SELECT * FROM email_message WHERE sum IS NULL ORDER BY id LIMIT ?',
    update: 'UPDATE email_message SET sum = ? WHERE id = ?',
    values: (row: EmailMessageRow) => [contentSum(messageFields(row)), row.id],
  },
  {
    missing: 'event WHERE head_sum IS NULL',
    select: `SELECT e.seq, e.id, e.source, e.channel, e.type, e.received_at, e.verified, e.trust, e.size_bytes, c.headers,
        c.content_type, c.kind, c.blob, c.body
      FROM (SELECT seq FROM event WHERE head_sum IS NULL ORDER BY seq LIMIT ?) AS candidate
      CROSS JOIN event e ON e.seq = candidate.seq CROSS JOIN event_content c ON c.seq = e.seq`,
    update: 'UPDATE event SET head_sum = ?, body_sum = ? WHERE seq = ?',
    values: (row: EventRow) => {
      const { head_sum, body_sum } = eventSums(row);
      return [head_sum, body_sum, row.seq];
    },
  },
];

const SOME_MISSING = `SELECT ${FAMILIES.map(({ missing }) => `EXISTS (SELECT 1 FROM ${missing})`).join(' OR ')} AS missing`;

/** Rows of earlier releases, which have no sums. */
export class MissingSumsRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async exist(): Promise<boolean> {
    return (await this.#tx.get(SOME_MISSING))?.['missing'] === 1;
  }

  /** Adds the sums of up to `limit` rows, as they are now; returns how many. */
  async add(limit: number): Promise<number> {
    for (const { select, update, values } of FAMILIES) {
      const rows = await this.#tx.all(select, [limit]);
      for (const row of rows) await this.#tx.put(update, values(row as never));
      if (rows.length > 0) return limit;
    }
    return 0;
  }
}
