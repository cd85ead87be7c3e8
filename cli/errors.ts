import { isObject } from '../shared/lib/guards.ts';
import { EXIT } from './exit.ts';

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exit: number;
  /** What the user can do next. */
  readonly hint?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A failure the user can fix, printed as `CODE: message` and a hint, never with a stack trace. */
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

  /** The error body, as in the API. */
  body(): { error: Record<string, unknown> } {
    const { code, message, hint, details } = this;
    return { error: { code, message, hint, ...(details && { details }) } };
  }
}

/** An error answer from the daemon or gateway. */
export class CallError extends CliError {
  readonly status: number;
  /** The answer's `X-Request-Id`. */
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
      // Any other 400 is about the input: the server can check more of it than the command.
      return status === 400 ? EXIT.usage : EXIT.refused;
  }
}

/** A proxy answers 502, 503 or 504 if nothing answers behind it. */
function exitForStatus(status: number): number {
  if (status >= 502 && status <= 504) return EXIT.unreachable;
  return status === 401 || status === 403 ? EXIT.signedOut : EXIT.refused;
}

/** The command line, or something it names, is wrong: exit code 2. */
export function usageError(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'USAGE', message, hint, exit: EXIT.usage });
}

/** Nothing answers, or the connection was lost: exit code 7. */
export function unreachable(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
}

/** A call was sent but its answer was lost, so it may have taken effect. Exit code 7. */
export class LostAnswer extends CliError {
  constructor(message: string, hint: string | null = null) {
    super({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
    this.name = 'LostAnswer';
  }
}

/** No secure connection is possible, and retrying won't help. Exit code 7. */
export class Untrusted extends CliError {
  constructor(message: string, hint: string) {
    super({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable });
    this.name = 'Untrusted';
  }
}

/** The server's answer isn't one this API gives. */
export function badAnswer(message: string): CliError {
  return new CliError({ code: 'ANSWER_INVALID', message, exit: EXIT.refused });
}

/** Adds a full stop unless there is one: a hint may end with a command, and another sentence follows. */
export function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The message to show for anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
