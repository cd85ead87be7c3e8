import { LibsqlBatchError, LibsqlError } from '@libsql/client/http';
import { errorCode } from '../../lib/guards.ts';

/** The server answered with a status other than 2xx. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`The database server answered with status ${status}${reason && `: ${reason}`}`);
    this.status = status;
  }
}

/** Codes of SQLite and the libSQL server that concern one statement; any other code means trouble with the server. */
const OF_STATEMENTS =
  /^(SQL_|ARGS_|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR|UNKNOWN|MISUSE|AUTH)|RESPONSE_TOO_LARGE)/;

/** True if the statement would fail again; other errors may be temporary. */
export function isOfStatement(error: unknown): boolean {
  return error instanceof LibsqlError && OF_STATEMENTS.test(error.code);
}

/** The index of the failed statement in its batch; null if unknown. */
export function failedIndex(error: unknown): number | null {
  return error instanceof LibsqlBatchError ? error.statementIndex : null;
}

/** What's wrong with the settings, in words for the operator; null for any other error. */
export function wrongSetting(error: unknown): Error | null {
  if (!(error instanceof HttpRefusal)) return null;
  const { status } = error;
  if (status === 401 || status === 403) {
    return new Error(`The database server refuses SVC_DATABASE_TOKEN (status ${status}).`);
  }
  if (status === 413) {
    return new Error(
      'The database server, or a proxy before it, refuses a request of this size (status 413).',
    );
  }
  if (status !== 404) return null;
  return new Error('The database server has no such database: see SVC_DATABASE_URL (status 404).', {
    cause: error,
  });
}

/** Whether to try again. sqld also answers 404 for a database that it has just closed to open another one. */
export function mayPass(error: unknown): boolean {
  return wrongSetting(error) === null || (error instanceof HttpRefusal && error.status === 404);
}

/** True if the server answered and has rolled back. */
export function isAnswer(error: unknown): boolean {
  return error instanceof LibsqlError && /^(SQLITE|SQL|TRANSACTION)_/.test(error.code);
}

/** True if no connection was made, so nothing was sent. */
export function neverConnected(error: unknown): boolean {
  const code = errorCode(error instanceof Error && error.cause ? error.cause : error);
  return NOT_CONNECTED.has(code ?? '') || NOT_CONNECTED.has(errorCode(error) ?? '');
}

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
