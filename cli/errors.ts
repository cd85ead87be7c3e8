import { SvcError, type Failure } from '../clients/typescript/core/errors.ts';
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

/** An error answer from the daemon or gateway; see `answeredFailure`. */
export class CallError extends CliError {
  constructor(failure: Failure) {
    super({ ...failure, exit: exitOf(failure) });
    this.name = 'CallError';
  }
}

/** What the parts that the command shares with other clients throw, with its exit code. */
export function asCliError(error: unknown): unknown {
  return error instanceof SvcError && !(error instanceof CliError) ? failureOf(error) : error;
}

/** The error of a call that failed. */
export function failureOf(failure: Failure): CliError {
  // An error's message isn't among the properties that a spread copies.
  const whole = { ...failure, message: failure.message, cause: failure.cause };
  return failure.status ? new CallError(whole) : new CliError({ ...whole, exit: exitOf(failure) });
}

function exitOf({ code, status = 0 }: Failure): number {
  return code === `HTTP_${status}` ? exitForStatus(status) : exitForCode(code, status);
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

/** Something in front of the server answered 5xx, with a status of its own or a usual one: nobody answers behind it. */
function exitForStatus(status: number): number {
  if (status >= 500) return EXIT.unreachable;
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
export function lostAnswer(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'UNREACHABLE', message, hint, exit: EXIT.unreachable, sent: true });
}

/** The server's answer isn't one this API gives. */
export function badAnswer(message: string): CliError {
  return new CliError({ code: 'ANSWER_INVALID', message, exit: EXIT.refused });
}
