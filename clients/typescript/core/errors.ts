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

/** Answers that a retry may change. A 500 of svc is a bug and would come back. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
/** Where a network wants its own page to be read first. */
export const DETOURS: ReadonlySet<number> = new Set([302, 303, 307]);
/** Something in front of the server answered in its place, and it may have heard the call. */
const VAGUE = /^HTTP_(?:408|5\d\d)$/;
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

/** Which request it was, and which server says that it answered. */
interface RequestOrigin {
  /** The path and the query. */
  readonly path?: string;
  /** The header `Server`, which svc doesn't send. */
  readonly server?: string | null;
}

const ENCODED_SLASH =
  'The path has %2F, which many proxies refuse: let this one pass it unchanged. A name without a leading, trailing or double `/` does without.';

/** Who answers what svc never would. */
function inFront({ server }: RequestOrigin): string {
  return server ? `A proxy in front of the server (${server})` : 'Something in front of the server';
}

/** What an answer with an error status says. A proxy says in a header how long to wait, svc says it in the body. */
export function answeredFailure(
  status: number,
  body: unknown,
  requestId: string | null = null,
  retryAfter: string | null = null,
  origin: RequestOrigin = {},
): Failure {
  const seconds = Number(retryAfter ?? '');
  const asked = seconds > 0 ? { retry_after: seconds } : undefined;
  const error: unknown = isObject(body) ? body['error'] : undefined;
  if (!isObject(error) || typeof error['code'] !== 'string') {
    return { ...strangersFailure(status, origin), details: asked, requestId };
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

/** An error status without an svc error: it comes from something in front of the server. */
function strangersFailure(status: number, origin: RequestOrigin): Failure {
  const message = `${inFront(origin)} answered HTTP ${status}.`;
  const hint = status < 500 && /%2f/i.test(origin.path ?? '') ? ENCODED_SLASH : null;
  const failure = { code: `HTTP_${status}`, message, hint, status };
  // Proxies use their own status codes, such as 524, for a server that is silent or can't be reached.
  return status >= 500 || DETOURS.has(status) ? { ...failure, retryable: true } : failure;
}

/** A page instead of an answer, or the start of one: something in front of the server spoke, or cut it. */
export function pageFailure(status: number, origin: RequestOrigin = {}): Failure {
  const message = `${inFront(origin)} answered HTTP ${status} and no JSON.`;
  return { code: 'ANSWER_INVALID', message, sent: true, retryable: true };
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
 * Whether such a call may have arrived: its answer was lost, or something in front of the server spoke in its place, if
 * only after it was held (`wasHeld`).
 */
export function mayHaveArrived(error: unknown, wasHeld = false): error is SvcError {
  if (!failedForNow(error)) return false;
  const { code, hint, sent } = error;
  const isVague = (wasHeld ? /^HTTP_/ : VAGUE).test(code) || code === 'IDEMPOTENCY_IN_PROGRESS';
  return sent || isVague || /same idempotency key/.test(hint ?? '');
}

/** Whether only the connection failed, so that a waiting call can be made again; `hasWorked`: a try was held, or cut before. */
export function isCut(error: unknown, hasWorked: boolean): boolean {
  return hasWorked ? failedForNow(error) : mayHaveArrived(error);
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
