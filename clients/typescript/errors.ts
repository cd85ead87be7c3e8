import { SvcError, type Failure } from './core/errors.ts';

/** Nothing answers, or the answer was lost. */
export class ConnectionError extends SvcError {
  override readonly name = 'ConnectionError';
}

/** The key is missing, wrong or revoked. */
export class AuthenticationError extends SvcError {
  override readonly name = 'AuthenticationError';
}

/** The key's scopes, or the project's policy, don't allow this. */
export class PermissionError extends SvcError {
  override readonly name = 'PermissionError';
}

/** What the call names doesn't exist. */
export class NotFoundError extends SvcError {
  override readonly name = 'NotFoundError';
}

/** The call doesn't fit the state of things: somebody else has the event, or the stored version is another one. */
export class ConflictError extends SvcError {
  override readonly name = 'ConflictError';
}

/** Too many calls or waits, or a limit is reached. */
export class RateLimitError extends SvcError {
  override readonly name = 'RateLimitError';
}

/** The input is wrong; `details.fields` says where. */
export class ValidationError extends SvcError {
  override readonly name = 'ValidationError';
}

/** The server failed. */
export class ServerError extends SvcError {
  override readonly name = 'ServerError';
}

const BY_STATUS: Readonly<Record<number, new (failure: Failure) => SvcError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: ConflictError,
  412: ConflictError,
  429: RateLimitError,
};

/** The class for what failed. */
export function errorOf(failure: Failure): SvcError {
  const { status = 0 } = failure;
  const OfStatus = BY_STATUS[status] ?? (status >= 500 ? ServerError : ValidationError);
  return status === 0 ? new ConnectionError(failure) : new OfStatus(failure);
}
