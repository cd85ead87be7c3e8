import { ServiceError, unavailable } from '../../shared/lib/errors.ts';

const RETRY_AFTER_SECONDS = 5;
/** Temporary errors, whatever the status: a copy that fails late reports one with a 200. */
const PASSING_CODES = ['InternalError', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown'];

/** The bucket's answer is an error. */
export class S3Error extends Error {
  readonly status: number;
  /** Such as `NoSuchKey`; empty if the answer has none. */
  readonly code: string;

  constructor(what: string, status: number, code: string) {
    super(`${what}: ${status} ${code}`.trimEnd());
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }
}

/** The bucket didn't answer, or its answer broke off. */
export class WireError extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause });
    this.name = 'WireError';
  }
}

/** The sender of the bytes failed; the bucket is not at fault. */
export class SenderError extends Error {
  constructor(cause: unknown) {
    super("Couldn't read the bytes to store.", { cause });
    this.name = 'SenderError';
  }
}

/** The error for a missing object, as for a missing file. */
export class MissingObjectError extends Error {
  readonly code = 'ENOENT';

  constructor(key: string) {
    super(`Object ${key} doesn't exist.`);
    this.name = 'MissingObjectError';
  }
}

/** Whether a repeat may succeed. */
export function isPassing(error: unknown): boolean {
  const fault = error instanceof ServiceError ? error.cause : error;
  if (fault instanceof WireError) return true;
  if (!(fault instanceof S3Error)) return false;
  if (PASSING_CODES.includes(fault.code) || fault.status === 429) return true;
  return fault.status >= 500 && fault.status !== 501;
}

/** The error for a caller of the store: UNAVAILABLE for a fault of the bucket, any other error unchanged. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof SenderError) return error.cause;
  return error instanceof S3Error || error instanceof WireError
    ? unavailable(RETRY_AFTER_SECONDS, error)
    : error;
}
