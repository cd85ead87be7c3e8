import { reworded, withNames } from '../../shared/api/names.ts';
import { ServiceError, type ErrorCode } from '../../shared/lib/errors.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { operations } from '../../shared/operations/index.ts';

/** The gateway words its hints for REST; our own REST does so again, and MCP names tools. */
const named = withNames(operations);

/** Headers of the gateway's error to pass on. The daemon computes headers that depend on the body. */
const RELAYED_HEADERS = new Map([
  ['retry-after', 'Retry-After'],
  ['ratelimit', 'RateLimit'],
  ['ratelimit-policy', 'RateLimit-Policy'],
  ['allow', 'Allow'],
]);

/** An answer other than a success. */
interface GatewayRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The gateway's answer, with its hints in our own words. */
export function relayedAnswer(value: unknown): unknown {
  return reworded(value, named);
}

/** The gateway's API error; null for any other answer, such as a proxy's. */
export function relayedError({ status, headers, text }: GatewayRefusal): ServiceError | null {
  // Other statuses aren't errors, and some can't carry a body.
  if (status < 400 || status > 599) return null;
  const error = parseObject(text)?.['error'];
  if (!isObject(error)) return null;
  const { code, message, hint, details } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new ServiceError(code as ErrorCode, {
    said: { status, message },
    hint: typeof hint === 'string' ? named(hint) : null,
    ...(isObject(details) && { details }),
    headers: relayedHeaders(headers),
    // Goes to the log, so that a reader can find the request in the gateway's log.
    ...(code === 'INTERNAL' && {
      cause: new Error(`The gateway answered ${code} to its request ${idOf(headers)}.`),
    }),
  });
}

function relayedHeaders(headers: GatewayRefusal['headers']): Record<string, string> {
  return Object.fromEntries(
    [...RELAYED_HEADERS].flatMap(([name, written]) => {
      const value = headers[name];
      return typeof value === 'string' ? [[written, value]] : [];
    }),
  );
}

function idOf(headers: GatewayRefusal['headers']): string {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : 'without an id';
}
