import { isObject } from '../../../shared/lib/guards.ts';

/** What an `SvcError` is made of. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryable?: boolean;
  readonly sent?: boolean;
  readonly cause?: unknown;
}

/** Answers that a retry may change. A 500 is a bug and would come back. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const PASSING_CODES: ReadonlySet<string> = new Set([
  'IDEMPOTENCY_IN_PROGRESS',
  'TRANSFER_BROKEN',
  'UNREACHABLE',
]);

/** Everything that svc refuses or that keeps a call from being answered. Match on `code`, never on the message. */
export class SvcError extends Error {
  /** The API's code, such as `EVENT_NOT_CLAIMABLE`; without an answer `UNREACHABLE`. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** The answer's HTTP status; 0 without an answer. */
  readonly status: number;
  /** The answer's `X-Request-Id`: quote it when you report a problem. */
  readonly requestId: string | null;
  /** The call failed only for now: nothing could take it, or its answer was lost. */
  readonly retryable: boolean;
  /** The call was sent, but its answer was lost: it may have had its effect. */
  readonly sent: boolean;

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = 'SvcError';
    this.code = failure.code;
    this.hint = failure.hint ?? null;
    this.details = failure.details;
    this.status = failure.status ?? 0;
    this.requestId = failure.requestId ?? null;
    this.sent = failure.sent ?? false;
    this.retryable =
      failure.retryable ?? (PASSING_STATUSES.has(this.status) || PASSING_CODES.has(this.code));
  }
}

/** What an answer with an error status says. A proxy says in a header how long to wait, svc says it in the body. */
export function answeredFailure(
  status: number,
  body: unknown,
  requestId: string | null = null,
  retryAfter: string | null = null,
): Failure {
  const seconds = Number(retryAfter ?? '');
  const asked = seconds > 0 ? { retry_after: seconds } : undefined;
  const error: unknown = isObject(body) ? body['error'] : undefined;
  if (!isObject(error) || typeof error['code'] !== 'string') {
    const message = `The server answered HTTP ${status} without an svc error.`;
    return { code: `HTTP_${status}`, message, details: asked, status, requestId };
  }
  const { code, message, hint, details } = error;
  return {
    code,
    message: typeof message === 'string' ? message : 'The call failed.',
    hint: typeof hint === 'string' ? hint : null,
    details: isObject(details) ? { ...asked, ...details } : asked,
    status,
    requestId,
  };
}

/** The server's answer isn't one this API gives. */
export function badAnswer(message: string): SvcError {
  return new SvcError({ code: 'ANSWER_INVALID', message });
}

/** Adds a full stop unless there is one: a hint may end with a command, and another sentence follows. */
export function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The message to show for anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Whether a call failed only for now. Never true for a refusal. Callers that retry for a while use this.
 */
export function failedForNow(error: unknown): error is SvcError {
  return error instanceof SvcError && error.retryable;
}

/**
 * Whether a long-running program should keep retrying. Unlike a short retry, this includes any server error, because
 * someone may repair the server but nobody restarts the program.
 */
export function canBeSatOut(error: unknown): boolean {
  if (error instanceof SvcError) return error.retryable || error.status >= 500;
  return hasSystemCode(error);
}

/** A lost connection has a system error code such as ECONNRESET; our own bugs don't. */
function hasSystemCode(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && /^E[A-Z]+$/.test(code);
}

/** An error answer's code, or null for anything else. */
export function answeredCode(error: unknown): string | null {
  return error instanceof SvcError && error.status > 0 ? error.code : null;
}

/** How long the server asked to wait, or 0. */
export function askedMs(error: unknown): number {
  if (!(error instanceof SvcError)) return 0;
  const seconds = error.details?.['retry_after'];
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0;
}
