import { answeredFailure, SvcError, type Failure } from '../clients/typescript/core/errors.ts';
import { EXIT } from './exit.ts';

/** A failure the user can fix, printed as `CODE: message` and a hint, never with a stack trace. */
export class CliError extends SvcError {
  readonly exit: number;

  constructor(failure: Failure & { readonly exit: number }) {
    super(failure);
    this.name = 'CliError';
    this.exit = failure.exit;
  }

  /** The error body, as in the API. */
  body(): { error: Record<string, unknown> } {
    const { code, message, hint, details } = this;
    return { error: { code, message, hint, ...(details && { details }) } };
  }
}

/** An error answer from the daemon or gateway. */
export class CallError extends CliError {
  constructor(status: number, body: unknown, requestId: string | null = null) {
    const failure = answeredFailure(status, body, requestId);
    const isBare = failure.code === `HTTP_${status}`;
    super({ ...failure, exit: isBare ? exitForStatus(status) : exitForCode(failure.code, status) });
    this.name = 'CallError';
  }
}

/** What the parts that the command shares with other clients throw, with its exit code. */
export function asCliError(error: unknown): unknown {
  if (!(error instanceof SvcError) || error instanceof CliError) return error;
  const { code, message, hint, details, status, requestId, retryable } = error;
  const exit = exitForCode(code, status);
  return new CliError({ code, message, hint, details, status, requestId, retryable, exit });
}

const EXIT_OF_CODE: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: EXIT.signedOut,
  CREDENTIALS_INVALID: EXIT.signedOut,
  KEY_REVOKED: EXIT.signedOut,
  SCOPE_MISSING: EXIT.signedOut,
  POLICY_DENIED: EXIT.denied,
  NOT_FOUND: EXIT.nothing,
  UNAVAILABLE: EXIT.unreachable,
  UNREACHABLE: EXIT.unreachable,
  OTHER_PROJECT: EXIT.unreachable,
  USAGE: EXIT.usage,
  CHANNEL_KIND_UNAVAILABLE: EXIT.refused,
};

/** Any other 400 is about the input: the server can check more of it than the command. */
function exitForCode(code: string, status: number): number {
  const exit = Object.hasOwn(EXIT_OF_CODE, code) ? EXIT_OF_CODE[code] : undefined;
  return exit ?? (status === 400 ? EXIT.usage : EXIT.refused);
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
    super({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable, retryable: false });
    this.name = 'Untrusted';
  }
}

/** The server's answer isn't one this API gives. */
export function badAnswer(message: string): CliError {
  return new CliError({ code: 'ANSWER_INVALID', message, exit: EXIT.refused });
}
