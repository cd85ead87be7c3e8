import { ServiceError, type ErrorCode } from '../../shared/lib/errors.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';

/** What an error of the gateway tells beside its body. Those that follow from the body are made anew. */
const RELAYED_HEADERS = new Map([
  ['retry-after', 'Retry-After'],
  ['ratelimit', 'RateLimit'],
  ['ratelimit-policy', 'RateLimit-Policy'],
  ['allow', 'Allow'],
]);

/** An answer that is no success. */
interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The error of the interface that a gateway answered; null when it is none, as one of a proxy before it. */
export function relayedError({ status, headers, text }: Refused): ServiceError | null {
  // Nothing else is a refusal, nor can it be answered with a body.
  if (status < 400 || status > 599) return null;
  const error = parseObject(text)?.['error'];
  if (!isObject(error)) return null;
  const { code, message, hint, details } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new ServiceError(code as ErrorCode, {
    said: { status, message },
    hint: typeof hint === 'string' ? hint : null,
    ...(isObject(details) && { details }),
    headers: relayedHeaders(headers),
    // For the log, and for whoever looks the request up in that of the gateway.
    ...(code === 'INTERNAL' && {
      cause: new Error(`The gateway answered ${code} to its request ${idOf(headers)}.`),
    }),
  });
}

function relayedHeaders(headers: Refused['headers']): Record<string, string> {
  return Object.fromEntries(
    [...RELAYED_HEADERS].flatMap(([name, written]) => {
      const value = headers[name];
      return typeof value === 'string' ? [[written, value]] : [];
    }),
  );
}

function idOf(headers: Refused['headers']): string {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : 'without an id';
}
