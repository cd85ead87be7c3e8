import { ServiceError, unavailable } from '../../shared/lib/errors.ts';

const RETRY_AFTER_SECONDS = 5;
/** They pass, whatever the status: a copy that fails late says so under 200. */
const PASSING_CODES = ['InternalError', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown'];

/** The bucket answered, and it was not what was asked for. */
export class S3Error extends Error {
  readonly status: number;
  /** Such as `NoSuchKey`; empty where the answer has none. */
  readonly code: string;

  constructor(what: string, status: number, code: string) {
    super(`${what}: ${status} ${code}`.trimEnd());
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }
}

/** The bucket did not answer, or not to the end. */
export class WireError extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause });
    this.name = 'WireError';
  }
}

/** Whoever sent the bytes failed, which is no fault of the bucket. */
export class SenderError extends Error {
  constructor(cause: unknown) {
    super("Couldn't read the bytes to store.", { cause });
    this.name = 'SenderError';
  }
}

/** There is no such object: told as a file store tells it of a file. */
export class MissingObjectError extends Error {
  readonly code = 'ENOENT';

  constructor(key: string) {
    super(`Object ${key} doesn't exist.`);
    this.name = 'MissingObjectError';
  }
}

/** Whether the same may be answered if it is asked again. */
export function isPassing(error: unknown): boolean {
  const fault = error instanceof ServiceError ? error.cause : error;
  if (fault instanceof WireError) return true;
  if (!(fault instanceof S3Error)) return false;
  if (PASSING_CODES.includes(fault.code) || fault.status === 429) return true;
  return fault.status >= 500 && fault.status !== 501;
}

/** What a caller of the store is told: UNAVAILABLE for a fault of the bucket, anything else as it is. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof SenderError) return error.cause;
  return error instanceof S3Error || error instanceof WireError
    ? unavailable(RETRY_AFTER_SECONDS, error)
    : error;
}
