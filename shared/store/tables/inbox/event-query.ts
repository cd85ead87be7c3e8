import { MAX_ATTEMPTS, type EventStatus } from '../../../rules/inbox/event-state.ts';
import type { SqlValue } from '../../engine/driver.ts';

export interface EventFilter {
  readonly status: EventStatus;
  readonly source?: string | undefined;
  /** Exact, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  /** Also leave out events that routes deliver. */
  readonly unroutedOnly?: boolean;
  /** Leave out what tells other keys than this that their requests ended. */
  readonly askedBy?: string | undefined;
  /** Only mails of this thread. */
  readonly thread?: string | undefined;
  readonly afterSeq: number;
  /** Only events before this one. */
  readonly beforeSeq?: number | undefined;
  /** Newest first; otherwise oldest first. */
  readonly newestFirst?: boolean;
  readonly limit: number;
  readonly now: number;
}

/** Every state, in the order that people read them. */
export const EVENT_STATES: readonly EventStatus[] = [
  'pending',
  'claimed',
  'waiting',
  'failed',
  'dead',
  'done',
];

interface Sql {
  readonly sql: string;
  readonly params: SqlValue[];
}

/**
 * The seqs of a page. Rows with the wanted stored status and rows that reached it since by time are two
 * ranges. Each is limited to a page before merging, so the cost depends on the page, not on the history.
 */
export function candidateSql(filter: EventFilter): Sql {
  const parts = [storedSql(filter), overdueSql(filter)].filter((part) => part !== null);
  const sql = parts.map((part) => `SELECT seq FROM (${part.sql})`).join(' UNION ALL ');
  return {
    sql: `SELECT seq FROM (${sql}) ${orderSql(filter, 'seq')} LIMIT ?`,
    params: [...parts.flatMap((part) => part.params), filter.limit],
  };
}

function orderSql({ newestFirst }: Pick<EventFilter, 'newestFirst'>, column: string): string {
  return `ORDER BY ${column}${newestFirst ? ' DESC' : ''}`;
}

/** The seqs of a page of events in any state, as `candidateSql`: one range for each state. */
export function anyStateSql(filter: Omit<EventFilter, 'status'>): Sql {
  if (filter.source === undefined && filter.type === undefined) {
    const { conditions, params } = narrowing({ ...filter, status: 'pending' });
    const one = { ...filter, status: 'pending' as const };
    return { sql: page(one, conditions.join(' AND ')), params: [...params, filter.limit] };
  }
  const parts = EVENT_STATES.map((status) => {
    const { conditions, params } = narrowing({ ...filter, status });
    return typedSql(
      { ...filter, status },
      { conditions: ['e.status = ?', ...conditions], params: [status, ...params] },
    );
  });
  return {
    sql: `SELECT seq FROM (${parts.map(({ sql }) => `SELECT seq FROM (${sql})`).join(' UNION ALL ')}) ${orderSql(filter, 'seq')} LIMIT ?`,
    params: [...parts.flatMap(({ params }) => params), filter.limit],
  };
}

interface Where {
  readonly conditions: readonly string[];
  readonly params: readonly SqlValue[];
}

/** Conditions besides state and type. */
function narrowing(filter: EventFilter): Where {
  const conditions = ['e.seq > ?'];
  const params: SqlValue[] = [filter.afterSeq];
  if (filter.beforeSeq !== undefined) {
    conditions.push('e.seq < ?');
    params.push(filter.beforeSeq);
  }
  if (filter.source !== undefined) {
    conditions.push('e.source = ?');
    params.push(filter.source);
  }
  if (filter.thread !== undefined) {
    conditions.push('e.thread_id = ?');
    params.push(filter.thread);
  }
  if (filter.unroutedOnly) conditions.push('e.routed = 0');
  if (filter.askedBy !== undefined) {
    conditions.push('(e.asker_key_id IS NULL OR e.asker_key_id = ?)');
    params.push(filter.askedBy);
  }
  return { conditions, params };
}

/** Rows that a stored status still describes at a time. */
const RUNS_OUT: Partial<Record<EventStatus, string>> = {
  claimed: 'e.due_at > ?',
  failed: 'e.due_at > ?',
  waiting: '(e.due_at IS NULL OR e.due_at > ?)',
};

/** Rows whose stored status is the wanted one and still true. */
function storedSql(filter: EventFilter): Sql {
  const { conditions, params } = narrowing(filter);
  const runsOut = RUNS_OUT[filter.status];
  return typedSql(filter, {
    conditions: ['e.status = ?', ...(runsOut ? [runsOut] : []), ...conditions],
    params: [filter.status, ...(runsOut ? [filter.now] : []), ...params],
  });
}

function page(filter: EventFilter, where: string, index = ''): string {
  return `SELECT e.seq FROM event e ${index} WHERE ${where} ${orderSql(filter, 'e.seq')} LIMIT ?`;
}

function typedSql(filter: EventFilter, { conditions, params }: Where): Sql {
  if (filter.type === undefined) {
    return { sql: page(filter, conditions.join(' AND ')), params: [...params, filter.limit] };
  }
  if (!filter.type.endsWith('*')) {
    return {
      sql: page(filter, [...conditions, 'e.type = ?'].join(' AND ')),
      params: [...params, filter.type, filter.limit],
    };
  }
  // A prefix covers few distinct types: step through them in the index, and take a page of each.
  const { low, high } = prefixRange(filter.type);
  const next = 'SELECT min(type) FROM event WHERE status = ? AND type';
  return {
    sql: `WITH RECURSIVE named(type) AS (
        SELECT (${next} >= ? AND type < ?)
        UNION ALL SELECT (${next} > named.type AND type < ?) FROM named WHERE named.type IS NOT NULL)
      SELECT seq FROM (
        SELECT p.seq FROM named JOIN event p ON p.seq IN (${page(filter, [...conditions, 'e.type = named.type'].join(' AND '))})
        WHERE named.type IS NOT NULL) ${orderSql(filter, 'seq')} LIMIT ?`,
    params: [filter.status, low, high, filter.status, high, ...params, filter.limit, filter.limit],
  };
}

/** Rows that reached the wanted status by time alone; null if time can't lead to that status. */
function overdueSql(filter: EventFilter): Sql | null {
  const became = OVERDUE[filter.status];
  if (became === undefined) return null;
  const { conditions, params } = narrowing(filter);
  const type = typeCondition(filter.type);
  return {
    // Few rows are overdue at a time, but SQLite's own choice of index reads every failed and claimed row.
    sql: page(
      filter,
      ['e.due_at <= ?', became, ...conditions, ...type.conditions].join(' AND '),
      'INDEXED BY event_due',
    ),
    params: [filter.now, ...params, ...type.params, filter.limit],
  };
}

function typeCondition(type: string | undefined): Where {
  if (type === undefined) return { conditions: [], params: [] };
  if (!type.endsWith('*')) return { conditions: ['e.type = ?'], params: [type] };
  const { low, high } = prefixRange(type);
  return { conditions: ['e.type >= ?', 'e.type < ?'], params: [low, high] };
}

/** Mirrors `effective` in rules/event-state.ts in SQL. */
const OVERDUE: Partial<Record<EventStatus, string>> = {
  pending: `(e.status IN ('failed', 'waiting') OR (e.status = 'claimed' AND e.attempts < ${MAX_ATTEMPTS - 1}))`,
  dead: `(e.status = 'claimed' AND e.attempts >= ${MAX_ATTEMPTS - 1})`,
};

function prefixRange(pattern: string): { low: string; high: string } {
  const low = pattern.slice(0, -1);
  return { low, high: `${low}\u{10FFFF}` };
}
