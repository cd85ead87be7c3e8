import { isoTime } from '../lib/clock.ts';
import type { Caller } from './context.ts';
import { ServiceError } from '../lib/errors.ts';
import type { Credentials } from './executor.ts';
import { hashApiKey, parseApiKey } from '../lib/ids.ts';
import type { KeyCache } from './key-cache.ts';
import { SESSION_MS } from '../lib/limits.ts';
import { checkedIdempotencyKey, identifyAgent } from './caller.ts';
import type { FoundKey, KeyRecord, SessionRecord } from '../store/keys.ts';
import type { ProjectReader } from '../store/project-store.ts';

/** A key that may be one: its form is right and its checksum fits. */
interface PresentedKey {
  readonly projectId: string;
  /** What stores know of its secret. */
  readonly hash: string;
}

/** The key of a request; UNAUTHENTICATED, without a look at any store, for none and for junk. */
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

/** Where a project's keys are, and which of them were found before. */
interface KeyLookup {
  readonly store: ProjectReader;
  readonly keyCache: KeyCache;
}

/** What there is of a key; remembered until a key changes. */
export async function findKey(
  { store, keyCache }: KeyLookup,
  hash: string,
  now: number,
): Promise<FoundKey> {
  const known = keyCache.get(hash);
  if (known) return known;
  const { version } = keyCache;
  const { key, session, isPrevious } = await store.read((one) =>
    one.keys.present(hash, isoTime(now)),
  );
  // A secret before its rotation holds for a time only, and junk must not fill the memory.
  if (key && !isPrevious) keyCache.set(hash, { key, session }, version);
  return { key, session };
}

/**
 * Who calls with a key as it was found. UNAUTHENTICATED says the same of a missing, a malformed, an unknown and an
 * expired key; KEY_REVOKED of one that was revoked.
 */
export function callerWith(
  { key, session }: FoundKey,
  { projectId, credentials, now }: { projectId: string; credentials: Credentials; now: number },
): Caller {
  refuseUnusable(key, isoTime(now));
  return {
    projectId,
    keyId: key.id,
    scopes: key.scopes,
    agent: identifyAgent(credentials, sessionAt(session, now)),
    requestId: credentials.requestId,
    idempotencyKey: checkedIdempotencyKey(credentials.idempotencyKey),
  };
}

function sessionAt(session: SessionRecord | null, now: number): SessionRecord | null {
  return session && session.at >= isoTime(now - SESSION_MS) ? session : null;
}

function refuseUnusable(key: KeyRecord | null, nowIso: string): asserts key is KeyRecord {
  if (!key || (key.expires_at !== null && key.expires_at <= nowIso)) {
    throw new ServiceError('UNAUTHENTICATED');
  }
  if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
}
