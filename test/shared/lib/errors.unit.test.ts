import { describe, expect, it } from 'vitest';
import {
  asServiceError,
  ERROR_CODES,
  errorEntry,
  invalid,
  ServiceError,
  unavailable,
} from '../../../shared/lib/errors.ts';

// Literals on purpose: callers match on codes, and on nothing that is allowed to change without notice.

const SPECIFIED = [
  ['UNAUTHENTICATED', 401, 'Missing or invalid API key.'],
  ['KEY_REVOKED', 401, 'This API key has been revoked.'],
  ['SCOPE_MISSING', 403, 'This key lacks a required scope.'],
  ['VALIDATION_FAILED', 400, 'The request is invalid.'],
  ['NOT_FOUND', 404, 'Not found.'],
  ['SLUG_TAKEN', 409, 'This slug is already taken.'],
  ['LOGIN_NOT_VERIFIED', 409, 'The sign-in link has not been confirmed yet.'],
  ['LOGIN_EXPIRED', 410, 'This sign-in has expired.'],
  ['LOGIN_CONSUMED', 409, 'This sign-in was already used.'],
  ['PROJECT_LIMIT_REACHED', 409, 'This account already has the maximum number of projects.'],
  ['LAST_ADMIN_KEY', 409, 'This is the last active admin key of the project.'],
  ['RATE_LIMITED', 429, 'Too many requests.'],
  ['EMAIL_DELIVERY_FAILED', 502, 'The sign-in email could not be sent.'],
  ['INGRESS_SIGNATURE_INVALID', 401, 'The webhook signature is missing or invalid.'],
  ['PAYLOAD_TOO_LARGE', 413, 'The request body is too large.'],
  ['SOURCE_NAME_TAKEN', 409, 'A source with this name already exists in the project.'],
  ['EMAIL_SOURCE_EXISTS', 409, 'The project already has an email source.'],
  ['EVENT_NOT_CLAIMABLE', 409, 'The event cannot be claimed or changed in its current state.'],
  ['EVENT_ROUTED', 409, 'The event is delivered by a routing rule.'],
  ['LEASE_NOT_HELD', 409, 'Another key holds the lease on this event.'],
  ['LEASE_EXPIRED', 409, 'The lease on this event has expired.'],
  ['TOO_MANY_WAITS', 429, 'Too many concurrent waits.'],
  ['CALLBACK_URL_REJECTED', 400, 'The callback URL is not allowed.'],
  ['KEY_LIMIT_REACHED', 409, 'The project has reached its limit of active keys.'],
  ['CHANNEL_NOT_VERIFIED', 409, 'An approver is not an active channel of this project.'],
  ['CHANNEL_ADDRESS_REJECTED', 400, 'This address cannot be used as a channel.'],
  ['CHANNEL_EXISTS', 409, 'This address is already a channel of the project.'],
  ['CHANNEL_OWNER_PROTECTED', 409, "The owner's channel cannot be removed."],
  ['CHANNEL_KIND_UNAVAILABLE', 400, 'This channel kind is not available on this server.'],
  ['POLICY_INVALID', 400, 'The policy document is invalid.'],
  ['TOO_MANY_PENDING_REQUESTS', 429, 'The project has too many pending requests.'],
  ['CALLBACK_SECRET_MISSING', 409, 'The project has no request callback secret.'],
  ['DETAILS_REQUIRED', 400, 'A high-risk request needs `details`.'],
  ['QUOTA_EXCEEDED', 409, 'The project disk is full.'],
  ['POLICY_DENIED', 403, 'A project policy denies this action.'],
  ['APPROVAL_NOT_APPLICABLE', 409, 'The approval does not apply to this call.'],
  ['UPLOAD_INCOMPLETE', 409, 'The upload is incomplete.'],
  ['UPLOAD_LIMIT', 429, 'Too many open uploads at this path.'],
  ['PATH_RESERVED', 400, 'This key or path is reserved.'],
  ['SEND_LIMIT_REACHED', 429, 'The project reached its sending limit.'],
  ['SEND_BLOCKED', 403, 'Sending is blocked for this project.'],
  ['EMAIL_SOURCE_REQUIRED', 409, 'The project has no active email source.'],
  ['INTERNAL', 500, 'Internal error.'],
];

const ADDED = [
  ['UNAVAILABLE', 503],
  ['METHOD_NOT_ALLOWED', 405],
  ['PRECONDITION_FAILED', 412],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['IDEMPOTENCY_IN_PROGRESS', 409],
];

describe('the error table', () => {
  const table = ERROR_CODES.map((code) => {
    const { status, message } = errorEntry(code);
    return [code, status, message];
  });

  it('begins with the specified codes, their status and their message', () => {
    expect(table.slice(0, SPECIFIED.length)).toEqual(SPECIFIED);
  });

  it('ends with five codes more', () => {
    const rest = table.slice(SPECIFIED.length);
    expect(rest.map(([code, status]) => [code, status])).toEqual(ADDED);
  });

  it.each(ERROR_CODES)('%s is a sentence, and its hint another one', (code) => {
    const { message, hint } = errorEntry(code);
    expect(message).toMatch(/^[A-Z].*\.$/);
    expect(hint ?? 'None.').toMatch(/^[A-Z\d].*\.$/);
    // They are for callers over REST and MCP too, who have no flags.
    expect(`${message} ${hint ?? ''}`).not.toMatch(/--[a-z]/);
  });
});

describe('an error', () => {
  it('has code, message and hint, and details only when there are some', () => {
    expect(new ServiceError('LEASE_EXPIRED').body()).toEqual({
      error: {
        code: 'LEASE_EXPIRED',
        message: 'The lease on this event has expired.',
        hint: 'Claim the event again, with inbox_claim.',
      },
    });
    expect(new ServiceError('NOT_FOUND').body()).toEqual({
      error: { code: 'NOT_FOUND', message: 'Not found.', hint: null },
    });
    const scoped = new ServiceError('SCOPE_MISSING', { details: { scope: 'disk' } });
    expect(scoped.body().error.details).toEqual({ scope: 'disk' });
  });

  it('takes another hint, also none', () => {
    expect(new ServiceError('LEASE_EXPIRED', { hint: 'Hurry.' }).hint).toBe('Hurry.');
    expect(new ServiceError('LEASE_EXPIRED', { hint: null }).hint).toBeNull();
  });

  it('keeps its cause out of the body', () => {
    const cause = new Error('disk on fire');
    const error = new ServiceError('UNAVAILABLE', { cause });
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(error.body()) + error.line()).not.toContain('fire');
  });

  it('says in headers what HTTP has headers for', () => {
    expect(new ServiceError('NOT_FOUND').headers()).toEqual({});
    expect(new ServiceError('UNAUTHENTICATED').headers()).toEqual({ 'WWW-Authenticate': 'Bearer' });
    expect(unavailable(7).headers()).toEqual({ 'Retry-After': '7' });
    const limited = new ServiceError('RATE_LIMITED', {
      details: { retry_after: 3 },
      headers: { RateLimit: '"key";r=0;t=3' },
    });
    expect(limited.headers()).toEqual({ 'Retry-After': '3', RateLimit: '"key";r=0;t=3' });
  });

  it('is one line for agents: `CODE: message hint`', () => {
    expect(new ServiceError('SOURCE_NAME_TAKEN').line()).toBe(
      'SOURCE_NAME_TAKEN: A source with this name already exists in the project. Choose another name.',
    );
    expect(new ServiceError('NOT_FOUND').line()).toBe('NOT_FOUND: Not found.');
    const two = invalid({ path: 'limit', message: 'Too big.' }, { path: 'type', message: 'Bad.' });
    expect(two.line()).toBe(
      'VALIDATION_FAILED: The request is invalid. limit: Too big. type: Bad. Fix the listed fields.',
    );
  });
});

describe('what was thrown', () => {
  it('is shown when it is ours', () => {
    const error = new ServiceError('NOT_FOUND');
    expect(asServiceError(error)).toBe(error);
  });

  it.each([[new TypeError('secret')], ['secret'], [undefined], [null]])(
    'is INTERNAL otherwise, kept for the log alone (%s)',
    (thrown) => {
      const shown = asServiceError(thrown);
      expect(shown.status).toBe(500);
      expect(shown.cause).toBe(thrown);
      expect(shown.body()).toEqual({
        error: {
          code: 'INTERNAL',
          message: 'Internal error.',
          hint: 'Retry later; quote X-Request-Id.',
        },
      });
    },
  );
});
