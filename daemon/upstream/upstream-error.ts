import { ServiceError } from '../../shared/lib/errors.ts';
import { isTlsRefusal, tlsReason } from '../../shared/host/tls-refusal.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { missingAuthorities } from '../authorities.ts';

const RETRY_AFTER_SECONDS = 5;

/** Nobody accepted the call, or the connection broke before an answer: an immediate retry may succeed. */
const BROKEN_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'UND_ERR_SOCKET',
]);
/** The call never left this machine. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: "its name doesn't exist",
  EAI_AGAIN: "its name can't be looked up",
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no route to it',
  ECONNRESET: 'the connection broke',
  ECONNABORTED: 'the connection broke',
  EPIPE: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  UND_ERR_CONNECT_TIMEOUT: 'it took too long to connect',
  UND_ERR_HEADERS_TIMEOUT: 'it took too long to answer',
  UND_ERR_BODY_TIMEOUT: 'it took too long to answer',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'its answer is too long',
};

/** Node reads the file once, at the start, and goes on without it if it can't be read. */
function distrustReason(): string {
  const missing = missingAuthorities(process.env);
  if (missing !== null) {
    return `the file of certificate authorities ${missing} can't be read: put it back, or sign in again with NODE_EXTRA_CA_CERTS=FILE, and restart the daemon`;
  }
  return 'to trust your own certificate authority, start the daemon with NODE_EXTRA_CA_CERTS=FILE';
}

/** True if the caller should try the same call once more. */
export function isBroken(error: unknown): boolean {
  return BROKEN_CODES.has(errorCode(error) ?? '');
}

/** True if we never sent the call, so it had no effect. */
export function isUnsent(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return UNSENT_CODES.has(code) || isTlsRefusal(code);
}

/** Why there was no answer, for people. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error) ?? '';
  if (isTlsRefusal(code)) {
    return `no secure connection: ${code}; ${tlsReason(code) ?? distrustReason()}`;
  }
  return REASONS[code] ?? (code || 'the connection failed');
}

/** UNAVAILABLE: the gateway didn't answer. The hint names the gateway and says what to do. */
export class UpstreamError extends ServiceError {
  /** False if we sent nothing, so nothing changed. */
  readonly mayHaveArrived: boolean;

  constructor(failure: {
    /** Scheme and host. */
    readonly gateway: string;
    readonly reason: string;
    readonly mayHaveArrived: boolean;
    /** What the caller should do next; every refusal says so. */
    readonly advice: string;
  }) {
    const { gateway, reason, mayHaveArrived, advice } = failure;
    const what = mayHaveArrived ? "didn't answer" : "can't be reached";
    super('UNAVAILABLE', {
      hint: `The gateway ${gateway} ${what} (${reason}). ${advice}`,
      details: { gateway, retry_after: RETRY_AFTER_SECONDS },
    });
    this.name = 'UpstreamError';
    this.mayHaveArrived = mayHaveArrived;
  }
}
