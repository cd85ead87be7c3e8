import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  effective,
  type EventQueueRow,
  type EventStatus,
} from '../../shared/rules/inbox/event-state.ts';
import { matchesType } from '../../shared/rules/inbox/event-type.ts';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { Row } from '../../shared/store/engine/driver.ts';
import {
  anyStateSql,
  candidateSql,
  type EventFilter,
} from '../../shared/store/tables/inbox/event-query.ts';
import { migrate } from '../../shared/store/engine/migrate.ts';

const STATUSES: EventStatus[] = ['pending', 'claimed', 'done', 'failed', 'dead'];
const TYPES = ['a', 'a.', 'a.b', 'a.bc', 'a.c', 'ab', 'b', 'b.é', 'push', 'A.b', 'a.b%', 'a_b'];
const PATTERNS = [...TYPES, '*', 'a*', 'a.*', 'a.b*', 'b.*', 'x*', 'a_*', 'a.b%*', 'A*'];
const SOURCES = ['github', 'stripe'];
const NOW = 1_000_000;

interface Queued extends EventQueueRow {
  readonly seq: number;
  readonly type: string;
  readonly source: string;
}

let connection: Connection;
beforeAll(() => {
  connection = new Connection(':memory:');
  migrate(connection, 'project');
});
afterAll(() => connection.close());
beforeEach(() => connection.exec('DELETE FROM event'));

function insert(row: Queued): void {
  connection.run(
    `INSERT INTO event (seq, id, source, channel, type, received_at, verified, trust, size_bytes, status, attempts, routed, due_at)
     VALUES (?, ?, ?, 'webhook', ?, '2026-01-01T00:00:00.000Z', 1, 'external_untrusted', 1, ?, ?, ?, ?)`,
    [
      row.seq,
      `evt_${row.seq}`,
      row.source,
      row.type,
      row.status,
      row.attempts,
      row.routed ? 1 : 0,
      row.due_at,
    ],
  );
}

/** A page of one state, or of any. */
type Wanted = Omit<EventFilter, 'status'> & { readonly status?: EventStatus | undefined };

function sqlOf({ status, ...filter }: Wanted) {
  return status === undefined ? anyStateSql(filter) : candidateSql({ ...filter, status });
}

function query(filter: Wanted): number[] {
  const { sql, params } = sqlOf(filter);
  return connection.all(sql, params).map((row) => Number(row['seq']));
}

/** The correct answer, found by looking at every row. */
function reference(rows: readonly Queued[], filter: Wanted): number[] {
  const { status, newestFirst, beforeSeq = Number.POSITIVE_INFINITY } = filter;
  return rows
    .filter((row) => status === undefined || effective(row, filter.now).status === status)
    .filter((row) => row.seq > filter.afterSeq && row.seq < beforeSeq)
    .filter((row) => filter.source === undefined || row.source === filter.source)
    .filter((row) => matchesType(filter.type, row.type))
    .filter((row) => !filter.unroutedOnly || !row.routed)
    .map((row) => row.seq)
    .toSorted((a, b) => (newestFirst ? b - a : a - b))
    .slice(0, filter.limit);
}

const queue = fc
  .record({
    status: fc.constantFrom(...STATUSES),
    attempts: fc.integer({ min: 0, max: 4 }),
    due: fc.integer({ min: NOW - 3, max: NOW + 3 }),
    type: fc.constantFrom(...TYPES),
    source: fc.constantFrom(...SOURCES),
    routed: fc.boolean(),
  })
  .map(({ due, ...row }) => ({
    ...row,
    // The invariant of the rows: only a claimed or failed event has a time.
    due_at: row.status === 'claimed' || row.status === 'failed' ? due : null,
    lease_id: null,
    holder_key_id: null,
  }));

const filters = fc.record({
  status: fc.constantFrom(...STATUSES, undefined),
  newestFirst: fc.boolean(),
  beforeSeq: fc.option(fc.integer({ min: 1, max: 45 }), { nil: undefined }),
  source: fc.option(fc.constantFrom(...SOURCES, 'none'), { nil: undefined }),
  type: fc.option(fc.constantFrom(...PATTERNS), { nil: undefined }),
  unroutedOnly: fc.boolean(),
  afterSeq: fc.integer({ min: 0, max: 30 }),
  limit: fc.integer({ min: 1, max: 12 }),
  now: fc.integer({ min: NOW - 2, max: NOW + 2 }),
});

describe('the page of a status', () => {
  it('is what looking at every row gives, for every filter and time', () => {
    const property = fc.property(
      fc.array(queue, { maxLength: 40 }),
      fc.array(filters, { minLength: 1, maxLength: 10 }),
      (queued, wanted) => {
        connection.exec('DELETE FROM event');
        const rows = queued.map((row, index) => ({ ...row, seq: index + 1 }));
        rows.forEach(insert);
        for (const filter of wanted) expect(query(filter)).toEqual(reference(rows, filter));
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('gives every row once when it is walked by its cursor, whatever the page size', () => {
    const property = fc.property(
      fc.array(queue, { maxLength: 40 }),
      filters,
      fc.integer({ min: 1, max: 7 }),
      (queued, wanted, limit) => {
        connection.exec('DELETE FROM event');
        const rows = queued.map((row, index) => ({ ...row, seq: index + 1 }));
        rows.forEach(insert);
        const walked: number[] = [];
        for (let afterSeq = 0; ;) {
          const page = query({ ...wanted, newestFirst: false, afterSeq, limit });
          walked.push(...page);
          const last = page.at(-1);
          if (last === undefined) break;
          afterSeq = last;
        }
        const whole = { ...wanted, newestFirst: false, afterSeq: 0, limit: 1000 };
        expect(walked).toEqual(reference(rows, whole));
      },
    );
    fc.assert(property, { numRuns: 150 });
  });
});

const base: Wanted = { status: 'pending', afterSeq: 0, limit: 21, now: NOW };

function planOf(filter: Partial<Wanted>): Row[] {
  const { sql, params } = sqlOf({ ...base, ...filter });
  return connection.all(`EXPLAIN QUERY PLAN ${sql}`, params);
}

describe('the plan of a page', () => {
  beforeEach(() => {
    // Enough rows, and statistics, that the planner could prefer a scan.
    connection.exec('BEGIN');
    for (let seq = 1; seq <= 3000; seq += 1) {
      insert({
        seq,
        type: TYPES[seq % TYPES.length] ?? 'a',
        source: SOURCES[seq % 2] ?? 'github',
        status: STATUSES[seq % 5] ?? 'pending',
        attempts: seq % 5,
        routed: false,
        due_at: seq % 5 === 1 || seq % 5 === 3 ? NOW + seq : null,
        lease_id: null,
        holder_key_id: null,
      });
    }
    connection.exec('COMMIT');
  });

  const filtersByName: [string, Partial<Wanted>][] = [
    ['pending', {}],
    ['pending of a wait', { unroutedOnly: true, limit: 1 }],
    ['pending after a cursor', { afterSeq: 2000 }],
    ['a type', { type: 'a.b' }],
    ['a source', { source: 'github' }],
    ['a prefix', { type: 'a.*' }],
    ['a prefix of a wait', { type: 'a.*', unroutedOnly: true, limit: 1 }],
    ['a source and a type', { source: 'github', type: 'a.b' }],
    ['dead', { status: 'dead' }],
    ['done', { status: 'done' }],
    ['newest of a state', { newestFirst: true, beforeSeq: 2000 }],
    ['newest of a type', { newestFirst: true, type: 'a.*' }],
    ['newest of any state', { status: undefined, newestFirst: true }],
    ['newest of a source', { status: undefined, newestFirst: true, source: 'github' }],
    ['newest of a prefix', { status: undefined, newestFirst: true, type: 'a.*' }],
  ];

  it.each(filtersByName)('reads no table from end to end: %s', (_name, filter) => {
    const lines = planOf(filter).map((row) => String(row['detail']));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => /^SCAN (event|e|p)\b/.test(line))).toEqual([]);
    const searches = lines.filter((line) => /^SEARCH (event|e|p)\b/.test(line));
    expect(searches.length).toBeGreaterThan(0);
    for (const line of searches)
      expect(line).toMatch(/USING (COVERING )?INDEX|INTEGER PRIMARY KEY/);
  });

  it.each(filtersByName)('sorts no more than what was cut to the page: %s', (_name, filter) => {
    // A temp b-tree inside a branch would read the whole range before its LIMIT; the merge at the top may sort.
    const rows = planOf(filter);
    const sorts = rows.filter((row) => String(row['detail']).startsWith('USE TEMP B-TREE'));
    const parents = new Map(rows.map((row) => [row['id'], row]));
    for (const sort of sorts) {
      const siblings = rows.filter((row) => row['parent'] === sort['parent']);
      const reads = siblings
        .map((row) => String(row['detail']))
        // Few events are overdue at a time: maintenance has recorded the rest.
        .filter((d) => /^SEARCH (event|e)\b/.test(d) && !d.includes('INDEX event_due '));
      expect({ reads, in: parents.get(sort['parent'] ?? -1)?.['detail'] ?? 'top' }).toMatchObject({
        reads: [],
      });
    }
  });
});
