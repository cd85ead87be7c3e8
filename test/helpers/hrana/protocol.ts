/** The JSON messages. Hrana 2 and 3 share everything but `get_autocommit` and `is_autocommit`. */
export type HranaValue =
  | { readonly type: 'null' }
  /** In decimal. */
  | { readonly type: 'integer'; readonly value: string }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'blob'; readonly base64: string };

export interface SqlText {
  readonly sql?: string | null;
  readonly sql_id?: number | null;
}

export interface HranaStatement extends SqlText {
  readonly args?: readonly HranaValue[];
  /** With or without the sign before the name. */
  readonly named_args?: readonly { readonly name: string; readonly value: HranaValue }[];
  readonly want_rows?: boolean;
}

export type Condition =
  | { readonly type: 'ok' | 'error'; readonly step: number }
  | { readonly type: 'not'; readonly cond: Condition }
  | { readonly type: 'and' | 'or'; readonly conds: readonly Condition[] }
  | { readonly type: 'is_autocommit' };

export interface BatchStep {
  readonly condition?: Condition | null;
  readonly stmt: HranaStatement;
}

export type StreamRequest =
  | { readonly type: 'execute'; readonly stmt: HranaStatement }
  | { readonly type: 'batch'; readonly batch: { readonly steps: readonly BatchStep[] } }
  | ({ readonly type: 'sequence' | 'describe' } & SqlText)
  | { readonly type: 'store_sql'; readonly sql_id: number; readonly sql: string }
  | { readonly type: 'close_sql'; readonly sql_id: number }
  | { readonly type: 'close' | 'get_autocommit' };

export interface Pipeline {
  readonly baton?: string | null;
  readonly requests: readonly StreamRequest[];
}

export interface HranaError {
  readonly message: string;
  readonly code: string;
}

export interface StatementResult {
  readonly cols: readonly { readonly name: string; readonly decltype: string | null }[];
  readonly rows: readonly (readonly HranaValue[])[];
  readonly affected_row_count: number;
  readonly last_insert_rowid: string | null;
}

/** An error of SQL: the answer to one request, while the others go on. */
export class SqlError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What ends the request as a whole, and the stream with it: HTTP 400 with the message as plain text. */
export class ProtocolError extends Error {}

/** The server has no connection left: HTTP 429 with JSON. */
export class TooManyRequests extends Error {}

/** The stream was ended for doing nothing: HTTP 400 with JSON. */
export class StreamExpired extends Error {
  readonly code = 'STREAM_EXPIRED';

  constructor() {
    super('The stream has expired due to inactivity');
  }
}
