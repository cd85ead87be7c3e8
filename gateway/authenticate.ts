import { isoTime, type Clock } from '../shared/clock.ts';
import type { Caller } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Credentials } from '../shared/executor.ts';
import { hashApiKey, parseApiKey } from '../shared/ids.ts';
import { SESSION_MS } from '../shared/limits.ts';
import type { KeyRecord, SessionRecord } from '../shared/store/keys.ts';
import { checkedIdempotencyKey, identifyAgent } from '../shared/rules/caller.ts';
import type { KeyUse } from './key-use.ts';
import type { FoundKey } from './known-keys.ts';
import type { Project } from './project.ts';
import type { Projects } from './projects.ts';

/** Checks keys: junk by its checksum, the rest by its hash in the project it names. */
export class Authenticator {
  readonly #projects: Projects;
  readonly #clock: Clock;
  readonly #keyUse: KeyUse;

  constructor(parts: { projects: Projects; clock: Clock; keyUse: KeyUse }) {
    this.#projects = parts.projects;
    this.#clock = parts.clock;
    this.#keyUse = parts.keyUse;
  }

  /** UNAUTHENTICATED says the same of a missing, a malformed, an unknown and an expired key. */
  async check(credentials: Credentials): Promise<Caller> {
    const apiKey = bearer(credentials.authorization);
    const parsed = apiKey === null ? null : parseApiKey(apiKey);
    const project = parsed && (await this.#projects.find(parsed.projectId));
    if (apiKey === null || !project) throw new ServiceError('UNAUTHENTICATED');
    const now = this.#clock.now();
    const { key, session } = await find(project, hashApiKey(apiKey), now);
    refuseUnusable(key, isoTime(now));
    this.#keyUse.note(project, key.id, now);
    return {
      projectId: project.info.id,
      keyId: key.id,
      scopes: key.scopes,
      agent: identifyAgent(credentials, sessionAt(session, now)),
      requestId: credentials.requestId,
      idempotencyKey: checkedIdempotencyKey(credentials.idempotencyKey),
    };
  }
}

async function find(project: Project, hash: string, now: number): Promise<FoundKey> {
  const known = project.knownKeys.get(hash);
  if (known) return known;
  const { stamp } = project.knownKeys;
  const { key, session, isPrevious } = await project.store.read(async (store) => {
    const current = await store.keys.findByHash(hash);
    const found = current ?? (await store.keys.findByPreviousHash(hash, isoTime(now)));
    return {
      key: found,
      session: found && (await store.keys.session(found.id)),
      isPrevious: current === null,
    };
  });
  // A secret before its rotation holds for a time only, and junk must not fill the memory.
  if (key && !isPrevious) project.knownKeys.set(hash, { key, session }, stamp);
  return { key, session };
}

function sessionAt(session: SessionRecord | null, now: number): SessionRecord | null {
  return session && session.at >= isoTime(now - SESSION_MS) ? session : null;
}

function bearer(authorization: string | undefined): string | null {
  const scheme = authorization?.slice(0, 7).toLowerCase();
  return authorization && scheme === 'bearer ' ? authorization.slice(7).trim() : null;
}

function refuseUnusable(key: KeyRecord | null, nowIso: string): asserts key is KeyRecord {
  if (!key || (key.expires_at !== null && key.expires_at <= nowIso)) {
    throw new ServiceError('UNAUTHENTICATED');
  }
  if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
}
