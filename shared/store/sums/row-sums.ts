import { isSound } from './content-sum.ts';
import type { Row, Tx } from '../engine/driver.ts';
import {
  batchFields,
  messageFields,
  type EmailBatchRow,
  type EmailMessageRow,
} from '../tables/mail/emails.ts';
import { isWholeEvent, type SummedEventRow } from '../tables/inbox/event-content.ts';
import { fileFields, type FileRow } from '../tables/disk/files.ts';
import { valueFields, type KvRow, type SumColumn } from '../tables/disk/kv.ts';
import { parkFields } from '../tables/inbox/parks.ts';
import { policyFields, type PolicyRow } from '../tables/people/policies.ts';
import {
  isWhole as isWholeRequest,
  REQUEST_COLUMNS,
  type StoredRequest,
} from '../tables/people/requests.ts';
import { voteFields, type VoteRow } from '../tables/people/votes.ts';

/** A family of rows with sums. */
interface Family {
  /** Rows after a place, in order, with their place as `at`; it takes the place and how many. */
  readonly select: string;
  readonly isWhole: (row: never) => boolean;
  /** As reads name it: see `RowDamage`. */
  readonly nameOf: (row: never) => string;
}

type ValueRow = Pick<KvRow, 'key' | 'version' | 'note' | 'value'> & SumColumn;
type ParkRow = Parameters<typeof parkFields>[0] & SumColumn & { readonly id: string };

const isWholeValue = (row: ValueRow): boolean => isSound(row.sum, valueFields(row), row.value);

const FAMILIES: readonly Family[] = [
  {
    select:
      'SELECT id AS at, key, version, note, value, sum FROM kv WHERE id > ? ORDER BY id LIMIT ?',
    isWhole: isWholeValue,
    nameOf: ({ key }: ValueRow) => `key ${key}`,
  },
  {
    select:
      'SELECT version AS at, key, version, note, value, sum FROM state_version WHERE version > ? ORDER BY version LIMIT ?',
    isWhole: isWholeValue,
    nameOf: ({ key, version }: ValueRow) => `key ${key}, version ${version}`,
  },
  {
    select: 'SELECT path AS at, * FROM file WHERE path > ? ORDER BY path LIMIT ?',
    isWhole: (row: FileRow & SumColumn) => isSound(row.sum, fileFields(row)),
    nameOf: ({ path }: FileRow) => `file ${path}`,
  },
  {
    select: `SELECT p.seq AS at, p.*, e.id FROM park p JOIN event e ON e.seq = p.seq
      WHERE p.seq > ? ORDER BY p.seq LIMIT ?`,
    isWhole: (row: ParkRow) => isSound(row.sum, parkFields(row)),
    nameOf: ({ id }: ParkRow) => `the state of event ${id}`,
  },
  {
    select: `SELECT id AS at, ${REQUEST_COLUMNS} FROM request WHERE id > ? ORDER BY id LIMIT ?`,
    isWhole: isWholeRequest,
    nameOf: ({ id }: StoredRequest) => `request ${id}`,
  },
  {
    select: `SELECT request_id || channel_id AS at, * FROM vote
      WHERE request_id || channel_id > ? ORDER BY request_id, channel_id LIMIT ?`,
    isWhole: (row: VoteRow & SumColumn) => isSound(row.sum, voteFields(row)),
    nameOf: ({ request_id: id }: VoteRow) => `approvals of ${id}`,
  },
  {
    select: 'SELECT version AS at, * FROM policy WHERE version > ? ORDER BY version LIMIT ?',
    isWhole: (row: PolicyRow & SumColumn) => isSound(row.sum, policyFields(row)),
    nameOf: ({ version }: PolicyRow) => `policy ${version}`,
  },
  {
    // The sum means nothing once the content is deleted.
    select:
      'SELECT id AS at, * FROM email_batch WHERE id > ? AND forget_at IS NOT NULL ORDER BY id LIMIT ?',
    isWhole: (row: EmailBatchRow) => isSound(row.sum, batchFields(row)),
    nameOf: ({ id }: EmailBatchRow) => `mail ${id}`,
  },
  {
    select: 'SELECT id AS at, * FROM email_message WHERE id > ? ORDER BY id LIMIT ?',
    isWhole: (row: EmailMessageRow) => isSound(row.sum, messageFields(row)),
    nameOf: ({ id }: EmailMessageRow) => `mail ${id}`,
  },
  {
    select: `SELECT e.seq AS at, e.id, e.source, e.channel, e.type, e.received_at, e.verified, e.trust, e.size_bytes,
        e.head_sum, e.body_sum, c.headers, c.content_type, c.kind, c.blob, c.body
      FROM event e JOIN event_content c ON c.seq = e.seq
      WHERE e.seq > ? AND c.kind IS NOT NULL ORDER BY e.seq LIMIT ?`,
    isWhole: isWholeEvent,
    nameOf: ({ id }: SummedEventRow) => `event ${id}`,
  },
];

/** Before every place: numbers come before texts, and no number is smaller. */
const START = Number.MIN_SAFE_INTEGER;

/** Where a check of all rows continues; null at its end. */
export interface RowPosition {
  readonly family: number;
  readonly at: string | number;
}

export const FIRST_ROW: RowPosition = { family: 0, at: START };

/** Compares rows with their sums. */
export class RowSumRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Checks up to `limit` rows; returns the damaged ones, and where to continue. */
  async look(
    { family, at }: RowPosition,
    limit: number,
  ): Promise<{ readonly damaged: readonly string[]; readonly next: RowPosition | null }> {
    const kind = FAMILIES[family];
    if (!kind) return { damaged: [], next: null };
    const rows = await this.#tx.all<Row & { at: string | number }>(kind.select, [at, limit]);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      damaged: rows
        .filter((row) => !kind.isWhole(row as never))
        .map((row) => kind.nameOf(row as never)),
      next: last ? { family, at: last.at } : { family: family + 1, at: START },
    };
  }
}
