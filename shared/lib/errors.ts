import { pluralize } from './pluralize.ts';

/** A code's HTTP status, message and, if there is one, next step. */
interface ErrorEntry {
  readonly status: number;
  readonly message: string;
  readonly hint: string | null;
}

/** The API's error table (spec section 7). Callers match on the code, never on the message. */
const SPECIFIED = {
  UNAUTHENTICATED: [
    401,
    'Missing or invalid API key.',
    'Pass the key as `Authorization: Bearer <key>`. GET /llms.txt says how to get one.',
  ],
  KEY_REVOKED: [401, 'This API key has been revoked.', 'Ask the owner for a new key.'],
  SCOPE_MISSING: [
    403,
    'This key lacks a required scope.',
    'Create a key with that scope (needs an admin key).',
  ],
  VALIDATION_FAILED: [400, 'The request is invalid.', 'Fix the listed fields.'],
  NOT_FOUND: [404, 'Not found.', null],
  SLUG_TAKEN: [409, 'This slug is already taken.', 'Choose another slug or omit it.'],
  LOGIN_NOT_VERIFIED: [409, 'The sign-in link has not been confirmed yet.', 'Keep polling.'],
  LOGIN_EXPIRED: [410, 'This sign-in has expired.', 'Start again.'],
  LOGIN_CONSUMED: [409, 'This sign-in was already used.', 'Start a new login.'],
  PROJECT_LIMIT_REACHED: [
    409,
    'This account already has the maximum number of projects.',
    'Reuse an existing project.',
  ],
  LAST_ADMIN_KEY: [
    409,
    'This is the last active admin key of the project.',
    'Create another admin key first.',
  ],
  RATE_LIMITED: [429, 'Too many requests.', 'Wait details.retry_after seconds.'],
  EMAIL_DELIVERY_FAILED: [502, 'The sign-in email could not be sent.', 'Retry in a minute.'],
  INGRESS_SIGNATURE_INVALID: [
    401,
    'The webhook signature is missing or invalid.',
    'Check the source secret.',
  ],
  PAYLOAD_TOO_LARGE: [413, 'The request body is too large.', null],
  SOURCE_NAME_TAKEN: [
    409,
    'A source with this name already exists in the project.',
    'Choose another name.',
  ],
  EMAIL_SOURCE_EXISTS: [409, 'The project already has an email source.', 'See source_list.'],
  EVENT_NOT_CLAIMABLE: [
    409,
    'The event cannot be claimed or changed in its current state.',
    'Only a pending event can be claimed, and only a claimed one finished; see its status with inbox_list.',
  ],
  EVENT_ROUTED: [
    409,
    'The event is delivered by a routing rule.',
    'It is delivered by callback, not by pull.',
  ],
  LEASE_NOT_HELD: [
    409,
    'Another key holds the lease on this event.',
    'Claim another pending event: inbox_wait finds one.',
  ],
  LEASE_EXPIRED: [
    409,
    'The lease on this event has expired.',
    'Claim the event again, with inbox_claim.',
  ],
  TOO_MANY_WAITS: [
    429,
    'Too many concurrent waits.',
    '10 per key and 25 per project; let one end first.',
  ],
  CALLBACK_URL_REJECTED: [
    400,
    'The callback URL is not allowed.',
    'Use an https URL on a public address.',
  ],
  KEY_LIMIT_REACHED: [
    409,
    'The project has reached its limit of active keys.',
    '20 active keys; revoke one.',
  ],
  CHANNEL_NOT_VERIFIED: [
    409,
    'An approver is not an active channel of this project.',
    'Use active channel ids from channel_list.',
  ],
  CHANNEL_ADDRESS_REJECTED: [
    400,
    'This address cannot be used as a channel.',
    "Use a valid email outside the service's inbound domain.",
  ],
  CHANNEL_EXISTS: [409, 'This address is already a channel of the project.', 'See channel_list.'],
  CHANNEL_OWNER_PROTECTED: [409, "The owner's channel cannot be removed.", null],
  CHANNEL_KIND_UNAVAILABLE: [
    400,
    'This channel kind is not available on this server.',
    'Use `email`.',
  ],
  POLICY_INVALID: [400, 'The policy document is invalid.', 'Fix the field at details.path.'],
  TOO_MANY_PENDING_REQUESTS: [
    429,
    'The project has too many pending requests.',
    '50 are pending: have some decided, or let them expire; see request_list.',
  ],
  CALLBACK_SECRET_MISSING: [
    409,
    'The project has no request callback secret.',
    'Create it, or omit callback_url.',
  ],
  DETAILS_REQUIRED: [400, 'A high-risk request needs `details`.', 'Give details, or lower risk.'],
  QUOTA_EXCEEDED: [409, 'The project disk is full.', 'Delete keys or files.'],
  POLICY_DENIED: [403, 'A project policy denies this action.', null],
  APPROVAL_NOT_APPLICABLE: [409, 'The approval does not apply to this call.', null],
  UPLOAD_INCOMPLETE: [
    409,
    'The upload is incomplete.',
    'PUT exactly as many bytes as you declared to upload_url, with its headers; then complete it again.',
  ],
  UPLOAD_LIMIT: [429, 'Too many open uploads at this path.', 'Complete one or wait 15 minutes.'],
  PATH_RESERVED: [
    400,
    'This key or path is reserved.',
    'Keys under `state/` belong to state_save, and paths under `evt_…/` are attachments that nobody changes.',
  ],
  SEND_LIMIT_REACHED: [
    429,
    'The project reached its sending limit.',
    'Retry after details.retry_after, or send to fewer recipients.',
  ],
  SEND_BLOCKED: [
    403,
    'Sending is blocked for this project.',
    "Only the operator's support unblocks.",
  ],
  EMAIL_SOURCE_REQUIRED: [409, 'The project has no active email source.', 'Add an email source.'],
  INTERNAL: [500, 'Internal error.', 'Retry later; quote X-Request-Id.'],
} as const;

/** Our own codes, not in that table. */
const ADDED = {
  UNAVAILABLE: [
    503,
    "The service can't take this right now.",
    'Repeat it after details.retry_after seconds.',
  ],
  METHOD_NOT_ALLOWED: [405, 'This method is not allowed here.', 'See the Allow header.'],
  PRECONDITION_FAILED: [
    412,
    'The stored version is different.',
    'Read it again, then check whether your change still applies.',
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    415,
    "This content encoding isn't supported.",
    'Send the body without Content-Encoding.',
  ],
  IDEMPOTENCY_IN_PROGRESS: [
    409,
    'The first call with this Idempotency-Key is still running.',
    'Repeat it in 1 second.',
  ],
} as const;

const TABLE = { ...SPECIFIED, ...ADDED };

/** An error code of the API. */
export type ErrorCode = keyof typeof TABLE;

/** Every code in table order: the specified ones, then ours. */
export const ERROR_CODES = Object.keys(TABLE) as ErrorCode[];

/** A code's status, message and default hint. */
export function errorEntry(code: ErrorCode): ErrorEntry {
  const [status, message, hint] = TABLE[code];
  return { status, message, hint };
}

/** One problem with an input: its path (`options[2]`) and a sentence. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** The API's error body (spec section 4.0, rule 6). */
export interface ErrorBody {
  error: {
    code: ErrorCode;
    message: string;
    hint: string | null;
    details?: Record<string, unknown>;
  };
}

interface ErrorOptions {
  /** Replaces the table's hint. Shown to the caller. */
  readonly hint?: string | null;
  /** Shown to the caller. */
  readonly details?: Record<string, unknown>;
  /** Sent with the HTTP answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
  /** Status and message from another server, whose release may have codes that this one doesn't know. */
  readonly said?: { readonly status: number; readonly message: string };
}

/** The only error that reaches callers. Any other is INTERNAL: the log gets all of it, the caller nothing. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly hint: string | null;
  readonly details: Record<string, unknown> | undefined;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const entry = options.said ? { ...options.said, hint: null } : errorEntry(code);
    super(entry.message, { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = entry.status;
    this.hint = options.hint === undefined ? entry.hint : options.hint;
    this.details = options.details;
    this.#headers = options.headers ?? {};
  }

  body(): ErrorBody {
    const { code, message, hint, details } = this;
    return { error: { code, message, hint, ...(details && { details }) } };
  }

  /** Headers of the HTTP answer: the given ones, Retry-After if the details have it, and the challenge of a 401. */
  headers(): Record<string, string> {
    const retryAfter = this.details?.['retry_after'];
    return {
      ...this.#headers,
      ...(typeof retryAfter === 'number' && { 'Retry-After': String(retryAfter) }),
      ...(this.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    };
  }

  /** The error on one line for MCP: `CODE: message hint`. */
  line(): string {
    const fields = this.details?.['fields'];
    const listed = Array.isArray(fields) ? (fields as FieldProblem[]).map(problemLine) : [];
    return [`${this.code}: ${this.message}`, ...listed, this.hint].filter(Boolean).join(' ');
  }
}

function problemLine({ path, message }: FieldProblem): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** VALIDATION_FAILED that names every bad field at once. */
export function invalid(...fields: FieldProblem[]): ServiceError {
  return new ServiceError('VALIDATION_FAILED', { details: { fields } });
}

/** SCOPE_MISSING that names the scope. */
export function scopeMissing(scope: string): ServiceError {
  const hint = `Create a key with the scope \`${scope}\` (needs an admin key).`;
  return new ServiceError('SCOPE_MISSING', { hint, details: { scope } });
}

/** POLICY_DENIED by this rule. `advice` follows the way to see it. */
export function deniedBy(rule: string | null, advice = ''): ServiceError {
  const which = rule === null ? 'the rule' : `the rule \`${rule}\``;
  return new ServiceError('POLICY_DENIED', {
    hint: `See ${which} with policy_get${advice}.`,
    details: { rule },
  });
}

/** NOT_FOUND that names what is missing, such as `event evt_…`. */
export function notFound(what: string): ServiceError {
  return new ServiceError('NOT_FOUND', { hint: `No ${what} in this project.` });
}

/** UNAVAILABLE with the seconds to wait before a repeat; bindings copy them into Retry-After. */
export function unavailable(retryAfterSeconds: number, cause?: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', {
    hint: `Repeat it in ${pluralize(retryAfterSeconds, 'second')}.`,
    details: { retry_after: retryAfterSeconds },
    cause,
  });
}

/** IDEMPOTENCY_IN_PROGRESS with a short wait, because a transaction takes only moments. */
export function stillRunning(): ServiceError {
  return new ServiceError('IDEMPOTENCY_IN_PROGRESS', { details: { retry_after: 1 } });
}

/** The part of any thrown error that a caller may see. */
export function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError('INTERNAL', { cause: error });
}
