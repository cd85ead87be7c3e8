import { ServiceError, type ErrorCode } from '../../../shared/lib/errors.ts';

/** An error as plain data, because class and properties don't survive the way between threads. */
export interface PlainError {
  /** Set for a ServiceError. */
  readonly service: {
    readonly code: ErrorCode;
    readonly hint: string | null;
    readonly details: Record<string, unknown> | undefined;
  } | null;
  readonly message: string;
  readonly stack: string | undefined;
  /** The driver's or the system's code, such as `SQLITE_FULL`. */
  readonly code: string | null;
  readonly cause: PlainError | null;
}

export function toPlain(error: unknown): PlainError {
  const known = error instanceof Error ? error : new Error(String(error));
  const { cause, message, stack } = known;
  const { code, hint, details } = known instanceof ServiceError ? known : NO_SERVICE;
  return {
    service: code === null ? null : { code, hint, details },
    message,
    stack,
    code: code === null && 'code' in known ? String(known.code) : null,
    cause: cause === undefined ? null : toPlain(cause),
  };
}

const NO_SERVICE = { code: null, hint: null, details: undefined } as const;

export function fromPlain(plain: PlainError): Error {
  const cause = plain.cause === null ? undefined : fromPlain(plain.cause);
  if (plain.service) {
    const { code, hint, details } = plain.service;
    return new ServiceError(code, { hint, cause, ...(details && { details }) });
  }
  const error = new Error(plain.message, { cause });
  if (plain.stack !== undefined) error.stack = plain.stack;
  if (plain.code !== null) Object.assign(error, { code: plain.code });
  return error;
}
