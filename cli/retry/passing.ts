import { CallError, CliError, Untrusted } from '../errors.ts';

/** Answers that a retry may change. A 500 is a bug and would come back. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const PASSING_CODES: ReadonlySet<string> = new Set([
  'IDEMPOTENCY_IN_PROGRESS',
  'TRANSFER_BROKEN',
  'UNREACHABLE',
]);

/**
 * Whether a call failed only for now: nothing could take it, or its answer was lost. Never true for a refusal. Commands
 * that retry for a while use this.
 */
export function failedForNow(error: unknown): error is CliError {
  if (!(error instanceof CliError) || error instanceof Untrusted) return false;
  const status = error instanceof CallError ? error.status : 0;
  return PASSING_STATUSES.has(status) || PASSING_CODES.has(error.code);
}

/**
 * Whether a long-running program should keep retrying. Unlike a short retry, this includes any server error, because
 * someone may repair the server but nobody restarts the program.
 */
export function canBeSatOut(error: unknown): boolean {
  if (failedForNow(error)) return true;
  if (error instanceof CliError) return error instanceof CallError && error.status >= 500;
  return hasSystemCode(error);
}

/** A lost connection has a system error code such as ECONNRESET; our own bugs don't. */
function hasSystemCode(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && /^E[A-Z]+$/.test(code);
}

/** Why the call failed, as the start of a sentence. */
export function failureText(error: CliError, hasGateway: boolean): string {
  const { code, details, message } = error;
  const status = error instanceof CallError ? error.status : 0;
  if (details?.['gateway'] !== undefined || code.startsWith('HTTP_5')) return GATEWAY_AWAY;
  if (status === 0 && code === 'UNREACHABLE') return hasGateway ? GATEWAY_AWAY : DAEMON_AWAY;
  return message.replace(/\.$/, '');
}

const GATEWAY_AWAY = "The gateway can't be reached";
const DAEMON_AWAY = "The daemon can't be reached";
