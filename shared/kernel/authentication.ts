import { isoTime } from '../lib/clock.ts';
import type { Caller } from './context.ts';
import { ServiceError } from '../lib/errors.ts';
import type { Credentials } from './executor.ts';
import { hashApiKey, parseApiKey } from '../lib/ids.ts';
import type { KeyCache } from './key-cache.ts';
import { isWhole, isWithin, mcpAddressOf } from './mcp-address.ts';
import { SESSION_MS } from '../lib/limits.ts';
import { checkedIdempotencyKey, identifyAgent } from './caller.ts';
import type { FoundKey, KeyRecord, SessionRecord } from '../store/tables/access/keys.ts';
import type { ProjectReader } from '../store/project-store.ts';

/** A well-formed key with the right checksum; it may still be unknown. */
interface PresentedKey {
  readonly projectId: string;
  /** What stores keep of the secret. */
  readonly hash: string;
}

/** The key of a request. Throws UNAUTHENTICATED for a missing or malformed one, without reading any store. */
export function presentedKey({ authorization }: Credentials): PresentedKey {
  const apiKey = bearer(authorization);
  const parsed = apiKey === null ? null : parseApiKey(apiKey);
  if (apiKey === null || !parsed) throw new ServiceError('UNAUTHENTICATED');
  return { projectId: parsed.projectId, hash: hashApiKey(apiKey) };
}

function bearer(authorization: string | undefined): string | null {
  const scheme = authorization?.slice(0, 7).toLowerCase();
  return authorization && scheme === 'bearer ' ? authorization.slice(7).trim() : null;
}

/** A project's keys and the cache of those found before. */
interface KeyLookup {
  readonly store: ProjectReader;
  readonly keyCache: KeyCache;
}

/** Finds a key and its session, and remembers them until a key changes. */
export async function findKey(
  { store, keyCache }: KeyLookup,
  hash: string,
  now: number,
): Promise<FoundKey> {
  const known = keyCache.get(hash);
  if (known) return known;
  const { version } = keyCache;
  const found = await store.read((one) => one.keys.present(hash, isoTime(now)));
  // The secret before a rotation is only valid for a while, and junk must not fill the cache.
  if (found.key && !found.isPrevious) keyCache.set(hash, found, version);
  return found;
}

/**
 * The caller of a found key. UNAUTHENTICATED is the same for a missing, malformed, unknown or expired key, and says so of
 * an app's token that came to the wrong address; KEY_REVOKED means it was revoked.
 */
export function callerWith(
  { key, secretHash, session, resource }: FoundKey,
  { projectId, credentials, now }: { projectId: string; credentials: Credentials; now: number },
): Caller {
  refuseUnusable(key, isoTime(now));
  refuseElsewhere(resource, credentials);
  return {
    projectId,
    keyId: key.id,
    scopes: key.scopes,
    diskPrefixes: key.disk_prefixes,
    agent: identifyAgent(credentials, sessionAt(session, now)),
    requestId: credentials.requestId,
    idempotencyKey: checkedIdempotencyKey(credentials.idempotencyKey),
    secretHash,
  };
}

function sessionAt(session: SessionRecord | null, now: number): SessionRecord | null {
  return session && session.at >= isoTime(now - SESSION_MS) ? session : null;
}

function refuseUnusable(key: KeyRecord | null, nowIso: string): asserts key is KeyRecord {
  if (!key || isExpired(key, nowIso)) throw new ServiceError('UNAUTHENTICATED');
  if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
}

/**
 * The token of an OAuth client is good for what the person saw when they let it in: everywhere, or at an address with
 * fewer tools and for nothing else.
 */
function refuseElsewhere(resource: string | null, { mcp }: Credentials): void {
  if (resource === null) return;
  const granted = mcpAddressOf(resource);
  if (isWhole(granted) || (mcp && isWithin(mcp, granted))) return;
  const hint = `This app's token is good at ${resource} only.`;
  throw new ServiceError('UNAUTHENTICATED', { hint });
}

/** Whether a key, or the secret that it has now, has expired. */
export function isExpired(
  { expires_at: expires, secret_expires_at: secretExpires }: KeyRecord,
  nowIso: string,
): boolean {
  return [expires, secretExpires].some((at) => at !== null && at <= nowIso);
}
