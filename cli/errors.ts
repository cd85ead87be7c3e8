import { isObject } from '../shared/lib/guards.ts';
import { EXIT } from './exit.ts';

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exit: number;
  /** The next step. */
  readonly hint?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A failure that is the caller's to solve: printed as `CODE: message` and a hint, never with a stack. */
export class CliError extends Error {
  readonly code: string;
  readonly exit: number;
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'CliError';
    this.code = failure.code;
    this.exit = failure.exit;
    this.hint = failure.hint ?? null;
    this.details = failure.details;
  }

  /** The error body of the interface. */
  body(): { error: Record<string, unknown> } {
    const { code, message, hint, details } = this;
    return { error: { code, message, hint, ...(details && { details }) } };
  }
}

/** An error answer of the daemon or gateway. */
export class CallError extends CliError {
  readonly status: number;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | null;

  constructor(status: number, body: unknown, requestId: string | null = null) {
    super(answeredFailure(status, body));
    this.name = 'CallError';
    this.status = status;
    this.requestId = requestId;
  }
}

function answeredFailure(status: number, body: unknown): Failure {
  const error: unknown = isObject(body) ? body['error'] : undefined;
  if (!isObject(error) || typeof error['code'] !== 'string') {
    const message = `The server answered HTTP ${status} without an svc error.`;
    return { code: `HTTP_${status}`, message, exit: exitForStatus(status) };
  }
  const { code, message, hint, details } = error;
  return {
    code,
    message: typeof message === 'string' ? message : 'The call failed.',
    hint: typeof hint === 'string' ? hint : null,
    details: isObject(details) ? details : undefined,
    exit: exitForCode(code, status),
  };
}

function exitForCode(code: string, status: number): number {
  switch (code) {
    case 'UNAUTHENTICATED':
    case 'KEY_REVOKED':
    case 'SCOPE_MISSING':
      return EXIT.signedOut;
    case 'POLICY_DENIED':
      return EXIT.denied;
    case 'NOT_FOUND':
      return EXIT.nothing;
    case 'UNAVAILABLE':
      return EXIT.unreachable;
    case 'CHANNEL_KIND_UNAVAILABLE':
      return EXIT.refused;
    default:
      // Any other 400 is about what was given: the other side only checks more of it than the command can.
      return status === 400 ? EXIT.usage : EXIT.refused;
  }
}

/** A proxy that finds nobody behind it answers 502, 503 or 504. */
function exitForStatus(status: number): number {
  if (status >= 502 && status <= 504) return EXIT.unreachable;
  return status === 401 || status === 403 ? EXIT.signedOut : EXIT.refused;
}

/** The command line or what it names is wrong: exit code 2. */
export function usageError(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'USAGE', message, hint, exit: EXIT.usage });
}

/** Nobody answers, or nobody does any more: exit code 7. */
export function unreachable(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
}

/** A call was sent, and how it was answered is not known: it may have had its effect. Exit code 7. */
export class LostAnswer extends CliError {
  constructor(message: string, hint: string | null = null) {
    super({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
    this.name = 'LostAnswer';
  }
}

/** No secure connection is possible, now or later. Exit code 7. */
export class Untrusted extends CliError {
  constructor(message: string, hint: string) {
    super({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
    this.name = 'Untrusted';
  }
}

/** The other side answered with something that is not of this interface. */
export function badAnswer(message: string): CliError {
  return new CliError({ code: 'ANSWER_INVALID', message, exit: EXIT.refused });
}

/** With a full stop, unless it ends in one: a command to type may stand at the end of a hint, before another sentence. */
export function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** What to show of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
