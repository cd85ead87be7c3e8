import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isPublicAddress } from '../lib/address-classes.ts';
import { CallbackAllow } from './callback-allow.ts';
import { rejected, type CallbackUrl } from './callback-url.ts';

/** How long a resolver may take when somebody enters a URL; an attempt has its own deadline. */
const RESOLVE_MS = 5000;

/** Every IPv4 and IPv6 address of a name. Rejects if it has none. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** The system's resolver, including its hosts file. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true });

/** The guard refused a connection. A retry a minute later would be refused too. */
export class GuardError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'GuardError';
  }
}

/** Contains no address, which would tell outsiders what names mean inside this network. */
const NOT_PUBLIC = 'The host has an address that is not public.';

/**
 * Looks up the host of a URL that somebody enters. Throws CALLBACK_URL_REJECTED if it has no address, or even one that
 * may not be called. Its addresses may have changed by the time of a call: see `guardedLookup`.
 */
export async function checkHost(
  callback: CallbackUrl,
  allow: CallbackAllow = CallbackAllow.none,
  resolve: Resolve = systemResolve,
): Promise<void> {
  // An address literal was checked when it was parsed.
  if (isIP(callback.host) !== 0) return;
  const addresses = await answerWithin(RESOLVE_MS, resolve(callback.host));
  if (addresses === null || addresses.length === 0) {
    throw rejected('The host has no address: the name cannot be resolved.');
  }
  const problem = problemOf(addresses, callback, allow);
  if (problem !== null) throw rejected(problem);
}

/**
 * The `lookup` of one connection: the connection goes to an address that was checked here, and the name isn't resolved
 * again. If even one address of a name may not be called, the whole name is refused, so that no order of attempts and no
 * fallback leads there. Node never calls it for a host that is an address; `parseCallbackUrl` checks those.
 */
export function guardedLookup(
  callback: CallbackUrl,
  allow: CallbackAllow,
  resolve: Resolve,
): LookupFunction {
  const checkedAddresses = async (host: string): Promise<readonly LookupAddress[]> => {
    const addresses = await resolve(host);
    if (addresses.length === 0) throw unresolved(host);
    const problem = problemOf(addresses, callback, allow);
    if (problem !== null) throw new GuardError(problem);
    return addresses;
  };
  return (host, options, done) => {
    callbackify(checkedAddresses)(host, (error: Error | null, addresses) => {
      if (error !== null) return done(error, []);
      if (options.all === true) return done(null, [...addresses]);
      const [first] = addresses;
      return done(null, first?.address ?? '', first?.family);
    });
  };
}

/**
 * Simultaneous lookups of a name share one answer. The system's resolver has few threads, and a name with silent servers
 * blocks one for many seconds; a hundred attempts must not block them all. Answers aren't cached.
 */
export function sharingResolve(resolve: Resolve): Resolve {
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  return (host) => {
    const known = asked.get(host);
    if (known) return known;
    const answer = resolve(host).finally(() => asked.delete(host));
    asked.set(host, answer);
    return answer;
  };
}

/** Why these addresses may not be called, or null. */
function problemOf(
  addresses: readonly LookupAddress[],
  { exception }: CallbackUrl,
  allow: CallbackAllow,
): string | null {
  const mayCall = (address: string): boolean =>
    allow.has(address) || (exception === null && isPublicAddress(address));
  if (addresses.every(({ address }) => mayCall(address))) return null;
  return exception ?? NOT_PUBLIC;
}

function unresolved(host: string): Error {
  return Object.assign(new Error(`No address of ${host} was found.`), { code: 'ENOTFOUND' });
}

/** Null if it rejects or takes longer. */
async function answerWithin<T>(ms: number, answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([answer, late]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
