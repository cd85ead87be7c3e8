import { isTlsRefusal, tlsReason } from '../../../shared/host/tls-refusal.ts';
import { errorCode } from '../../../shared/lib/guards.ts';
import type { Failure } from '../core/errors.ts';
import type { Connection } from '../node/connection.ts';

/** How a machine without a key gets one. */
export const NO_KEY_HINT =
  "To use a project on this machine: svc up. To use a team's: svc login --gateway URL";

/** Nothing is listening, so nothing was sent. */
const NOBODY_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** What it means that a call got no answer; null for a fault of this program. */
export function unanswered(there: Connection, timeoutMs: number, cause: unknown): Failure | null {
  if (cause instanceof Error && cause.name === 'TimeoutError') {
    const message = `No answer within ${timeoutMs / 1000} s.`;
    return { code: 'UNREACHABLE', message, hint: 'See: svc status', sent: true };
  }
  const code = codeOf(cause);
  if (code === null) return null;
  const failure = { code: 'UNREACHABLE', cause };
  if (isTlsRefusal(code)) {
    return {
      ...failure,
      message: `Can't make a secure connection to ${there.gateway?.origin ?? 'the daemon'} (${code}).`,
      hint: secureHint(code),
      retryable: false,
    };
  }
  // Any other error of Node's own.
  if (code.startsWith('ERR_')) return null;
  if (NOBODY_CODES.has(code)) return { ...failure, ...nobody(there, code) };
  const message = `The connection broke (${code}).`;
  return { ...failure, message, hint: 'Try again.', sent: true };
}

function secureHint(code: string): string {
  const reason = tlsReason(code);
  return reason === null
    ? 'Check the address. For your own certificate authority, set NODE_EXTRA_CA_CERTS=FILE.'
    : `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function nobody({ gateway, apiKey, hint }: Connection, code: string) {
  if (gateway !== null) {
    return { message: `Can't reach ${gateway.origin} (${code}).`, hint: hint ?? null };
  }
  if (apiKey !== '') return { message: "The daemon isn't running. Start it with: svc up" };
  const message = "The daemon isn't running, and no key is stored here.";
  return { message, hint: NO_KEY_HINT };
}

/** `fetch` has its reason in the cause. Its connections may end without a code. */
function codeOf(error: unknown): string | null {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return errorCode(error) ?? errorCode(cause) ?? (cause instanceof Error ? cause.message : null);
}
