import type { Query, SqlValue, Tx } from '../../engine/driver.ts';
import { REQUEST_COLUMNS, wholePage, type RequestRow, type StoredRequest } from './requests.ts';

/** What the wanted requests have in common; missing fields don't matter. */
export interface RequestFilter {
  readonly agent?: string | undefined;
  readonly action?: string | undefined;
  readonly risk?: string | undefined;
  readonly status?: string | undefined;
}

export interface RequestSearch extends RequestFilter {
  /** Only requests before this id; undefined for the newest. */
  readonly beforeId?: string | undefined;
  readonly limit: number;
  /** How many requests to look at. */
  readonly scan: number;
  readonly now: number;
}

/** The index to walk: the one of the agent, else of the action, else all requests in their order. */
function walked({ agent, action, beforeId, scan }: RequestSearch, columns: string): Query {
  const conditions: string[] = [];
  const params: SqlValue[] = [];
  if (agent !== undefined || action !== undefined) {
    conditions.push(agent === undefined ? 'action = ?' : 'agent = ?');
    params.push(agent ?? action ?? null);
  }
  if (beforeId !== undefined) {
    conditions.push('id < ?');
    params.push(beforeId);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return {
    sql: `SELECT ${columns} FROM request ${where} ORDER BY id DESC LIMIT ?`,
    params: [...params, scan],
  };
}

/** The query that `search` runs; newest first. */
export function requestSearchQuery(search: RequestSearch): Query {
  const { agent, action, risk, status, limit, now } = search;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  for (const [column, value] of [
    ['action', agent === undefined ? undefined : action],
    ['risk', risk],
  ] as const) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    values.push(value);
  }
  if (status !== undefined) {
    // The row of an expired request may still say pending.
    conditions.push(
      "CASE WHEN status = 'pending' AND expires_at <= ? THEN 'expired' ELSE status END = ?",
    );
    values.push(now, status);
  }
  // What the index finds is all wanted, unless there is another condition.
  if (conditions.length === 0) return walked({ ...search, scan: limit }, REQUEST_COLUMNS);
  const { sql, params } = walked(search, REQUEST_COLUMNS);
  return {
    sql: `SELECT * FROM (${sql}) WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ?`,
    params: [...params, ...values, limit],
  };
}

const VALUES = (column: 'agent' | 'action'): string => `WITH RECURSIVE known(value) AS (
    SELECT (SELECT min(${column}) FROM request WHERE ${column} IS NOT NULL)
    UNION ALL SELECT (SELECT min(${column}) FROM request WHERE ${column} > known.value) FROM known
      WHERE value IS NOT NULL LIMIT ?)
  SELECT value FROM known WHERE value IS NOT NULL`;

/** Requests by what people look for. Each method walks one index, bounded. */
export class RequestSearchRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  search(search: RequestSearch): Promise<RequestRow[]> {
    return wholePage(search, (limits) => {
      const { sql, params } = requestSearchQuery({ ...search, ...limits });
      return this.#tx.all<StoredRequest>(sql, params);
    });
  }

  /** The id of the last request that `search` looks at, if it can't look at all of them; else null. */
  async reached(search: RequestSearch): Promise<string | null> {
    const { sql, params } = walked(search, 'id');
    const row = await this.#tx.get<{ id: string | null; n: number }>(
      `SELECT min(id) AS id, count(*) AS n FROM (${sql})`,
      params,
    );
    return row?.n === search.scan ? row.id : null;
  }

  /** The different agents or actions of all requests, in their order. */
  async valuesOf(column: 'agent' | 'action', limit: number): Promise<string[]> {
    const rows = await this.#tx.all<{ value: string }>(VALUES(column), [limit]);
    return rows.map(({ value }) => value);
  }
}
