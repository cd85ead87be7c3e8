import { LibsqlBatchError, LibsqlError } from '@libsql/client/http';
import { ServiceError } from '../../lib/errors.ts';

/** The server answered with a status other than 2xx. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`The database server answered with status ${status}${reason && `: ${reason}`}`);
    this.status = status;
  }
}

/** Codes of SQLite and of libSQL's server that speak of one statement; the others are trouble of the server. */
const OF_STATEMENTS =
  /^(SQL_|ARGS_|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR|UNKNOWN|MISUSE|AUTH)|RESPONSE_TOO_LARGE)/;

/** True for a statement that would fail again. All else may go away by itself. */
export function isOfStatement(error: unknown): boolean {
  return error instanceof LibsqlError && OF_STATEMENTS.test(error.code);
}

/** The statement of its batch that failed, from 0; null when it cannot be told. */
export function failedIndex(error: unknown): number | null {
  return error instanceof LibsqlBatchError ? error.statementIndex : null;
}

/** What is wrong with the settings, in words for the operator; null for any other trouble. */
export function wrongSetting(error: unknown, isFirstRequest: boolean): Error | null {
  if (!(error instanceof HttpRefusal)) return null;
  const { status } = error;
  if (status === 401 || status === 403) {
    return new Error(`The database server refuses SVC_DATABASE_TOKEN (status ${status}).`);
  }
  // Some servers answer the same for a stream that they have forgotten.
  if (status !== 404 || !isFirstRequest) return null;
  return new Error('The database server has no such database: see SVC_DATABASE_URL (status 404).', {
    cause: error,
  });
}

/** UNAVAILABLE for a write that may have happened. */
export function uncertain(cause: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', {
    hint: 'It may have happened all the same. A repeat with the same idempotency key is safe; without one, look first.',
    details: { retry_after: 5 },
    cause,
  });
}
